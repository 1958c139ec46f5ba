# What conditions on data want is made before the loops that ask; and of a table's rows that lists name, none is counted.
m="$FSMC_ROOT/bench/kernels/more.fsm"
loops() { fsmc --fp=fast --lanes=0 --emit=loops --entry=$1 "$m" 2>&1 | sed '/otherwise/q'; }
echo "$(loops pools_grad | grep -c '^  var .* = false') arrays are made when they are needed first"
echo "$(loops bag_grad | grep -c 'new .*\[v\]') numbers for each row of the table"
