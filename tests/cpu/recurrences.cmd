# With any number of lanes, and for whole vectors and what is left of them, what the interpreter gives; and which loops have lanes.
list() { awk -v n=$1 -v by=$2 'BEGIN { for (i = 0; i < n; i++) s = s (i ? "," : "") sprintf("%.6f", 0.6 + (i * by % 7 - 3) / 8.3); print "[" s "]" }'; }
digits() { [ $1 = floats ] && by=5 || by=10; grep -oE '[-0-9.e]+' | awk -v by=$by '{ printf "%.*g ", by, $1 } END { print "" }'; }
entries=$(sed -n 's/^entry \([a-z_]*\) .*(b: .*/\1/p' recurrences.fsm)
for n in 0 1 3 4 8 21; do
    a=a=$(list $n 3) b=b=$(list $n 5)
    for e in $entries; do
        want=$(fsmc run --interp recurrences.fsm $e "$a" "$b" | digits $e)
        [ $n != 3 ] || echo "$e = $want"
        for lanes in 0 2 4 8 auto; do
            got=$(fsmc run --fp=fast --lanes=$lanes recurrences.fsm $e "$a" "$b" | digits $e)
            [ "$got" = "$want" ] || echo "$e, n = $n, $lanes lanes: $got for $want"
        done
    done
done
fsmc run --fp=fast recurrences.fsm integers 'is=[1,2,3,4,5,6,7,8,9]' 'js=[9,8,7,6,5,4,3,2,1]'
for fp in precise contract fast; do
    echo "--fp=$fp"
    fsmc --fp=$fp --target-cpu=x86-64-v3 --emit=loops -o - recurrences.fsm | grep -E '^loops|for '
done
