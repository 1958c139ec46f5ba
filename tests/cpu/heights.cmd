# With --fp=fast what the interpreter gives, and the loops of some.
digits() { [ $1 = floats ] && by=5 || by=10; grep -oE '[-0-9.e]+' | awk -v by=$by '{ printf "%.*g ", by, $1 } END { print "" }'; }
for n in 0 1 2 9 100; do
    for e in euler heun floats slopes steady apart; do
        want=$(fsmc run --interp heights.fsm $e 'p=[0.7,1.3]' n=$n | digits $e)
        got=$(fsmc run --fp=fast heights.fsm $e 'p=[0.7,1.3]' n=$n | digits $e)
        [ $n != 9 ] || echo "$e = $got"
        [ "$got" = "$want" ] || echo "$e, n = $n: $got for $want"
    done
done
for fp in contract fast; do
    echo "--fp=$fp"
    fsmc --fp=$fp --target-cpu=x86-64-v3 --entry=euler --entry=heun --entry=steady --emit=loops -o - heights.fsm | sed -n '/^loops/p; /  for /,/^  }/p'
done
[ "$(uname -m)" = x86_64 ] || exit 77
# Is the order that of the tree in what LLVM makes of it?
fsmc --fp=fast --target-cpu=x86-64-v3 --entry=euler --emit=llvm -o - heights.fsm | grep -q 'arithmetic.fence' && echo "in this order"
