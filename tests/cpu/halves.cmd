# Numbers are whole, so that sums are the same in any order.
for how in --interp -O1 -O2 --fp=fast; do
    echo '{"x": [[1, 2, 3], [4, 5, 6]], "g": [[2, -1, 3, 1], [1, 0, -2, 5]], "s": [3, -2], "vx": [[1, 0, 2], [-1, 3, 1]], "vg": [[2, 2, 1, 0], [-1, 4, 0, 3]], "vs": [5, 1], "w": [[1, 2, 0], [3, -1, 2], [0, 1, 1], [2, 2, -3]], "u": [1, 4, -2, 3]}' |
        fsmc run $how halves.fsm twice | tr -d ' \n'
    echo
done
