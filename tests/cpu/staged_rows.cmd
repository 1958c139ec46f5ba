# Lanes copy rows that they go over: code and loop trees read no row that the program does not.
for e in if_in_range if_asked in_a_sum; do
    for k in 0 1 2 -1 1000000000000; do
        for c in true false; do
            say() { fsmc run "$@" staged_rows.fsm $e 'x=[[[1,2],[3,4],[5,6]],[[7,8],[9,1],[2,3]]]' 'w=[[0.1,0.2],[0.3,0.4]]' k=$k c=$c 2>&1 |
                sed 's/\(\.[0-9]\{10\}\)[0-9]*/\1/g'; }
            want=$(say --interp)
            echo "$e $k $c: $want"
            for how in --fp=fast '--exec --fp=fast' '-O3 --fp=fast --lanes=8'; do [ "$(say $how)" = "$want" ] || { echo "$how:"; say $how; }; done
        done
    done
done
