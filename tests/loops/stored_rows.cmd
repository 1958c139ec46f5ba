# How deep the loops are where w is read and where the dear part is computed, and the derivatives.
v='[[1, 2, -1], [0.5, -1, 3], [-2, 1, 1], [1, 1, 0.25], [0.5, 0, 0]]' x='[0.3, -0.2, 0.7]'
for e in layers columns; do
    echo "$e:"
    fsmc -O1 --entry=$e --emit=loops -o - stored_rows.fsm | sed '/^} otherwise/q' |
        grep -E '(^ *[a-z ]*for |new | = w\[|tanh)' | sed 's/_[0-9]*//g; s/[bt][0-9][0-9]*/t/g'
    case $e in layers) w='[[1, 2, 3, 4, 5], [0.5, -1, 2, 0, 1]]' ;; *) w='[[1, 2], [3, 4], [5, 0.5], [-1, 2], [0, 1]]' ;; esac
    fsmc gradcheck stored_rows.fsm $e "v=$v" "w=$w" "x=$x" | grep -o "modes* agree"
done
