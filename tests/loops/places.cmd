# Iterations of a value and of its gradient, at n and at 4 n: both grow alike.
numbers() { awk -v n="$1" -v a="$2" 'BEGIN { printf "%s=[", a; for (i = 0; i < n; i++) printf "%s%g", i ? "," : "", i % 7 / 8 - 0.3; print "]" }'; }
places() { awk -v n="$1" 'BEGIN { printf "at=["; for (i = 0; i < n; i++) printf "%s%d", i ? "," : "", i * 5 % n; print "]" }'; }
for e in choice asked chosen element product power of_own of_all moved needed halves through residues evens; do
    fast=
    [ $e = power ] && fast=--fp=fast # no loop for each, then
    for n in 12 48; do
        for f in $e ${e}_grad; do
            echo "$f $n $(fsmc cost $fast places.fsm $f "$(numbers $n x)" "$(numbers $n w)" "$(places $n)" | grep -o '"iterations": [0-9]*')"
        done
    done
    for how in --interp -O0 -O2 '-O2 --fp=fast'; do
        fsmc run $how places.fsm ${e}_grad "$(numbers 6 x)" "$(numbers 6 w)" "$(places 6)" | grep -oE '[-0-9.e]+' | awk '{ printf "%.9f ", $1 } END { print "" }'
    done | uniq -c
done
# What fails does so in every engine; what a condition keeps from being read does not.
for e in asked chosen element power of_own; do
    for at in '[0, 0, 7]' '[0, -1, 0]' '[9, 0, 0]'; do
        for f in $e ${e}_grad; do
            for how in --interp -O0 -O2 '-O2 --fp=fast'; do fsmc run $how places.fsm $f 'x=[-0.5, -0.25, 1]' 'w=[1, 2, 3]' at="$at" 2>&1 | sed -E 's/^([^ 0-9]*[0-9.-]{6})[0-9]*/\1/; s/([0-9]\.[0-9]{6})[0-9]*/\1/g'; done | uniq -c
        done
    done
done
for w in '[1, 2]' '[]'; do
    for how in --interp -O2; do fsmc run $how places.fsm lengths_grad 'x=[1, 2, 3]' w="$w" 'at=[0, 1, 0]' 2>&1; done
done
for k in 0 2; do
    for how in --interp -O0 -O2 '-O2 --fp=fast'; do fsmc run $how places.fsm none_grad 'x=[1, 2]' k=$k 2>&1; done | uniq -c
done
