# With any number of lanes, and for whole vectors and what is left of them, what the interpreter gives; and which loops have lanes.
list() { awk -v n=$1 -v by=$2 'BEGIN { for (i = 0; i < n; i++) s = s (i ? "," : "") sprintf("%.6f", 0.6 + (i * by % 7 - 3) / 8.3); print "[" s "]" }'; }
digits() { # a line for each line
    [ $1 = floats ] && by=5 || by=10
    tr -s '][, ' ' ' | awk -v by=$by '{ for (i = 1; i <= NF; i++) printf "%.*g ", by, $i; print "" }'
}
calls=$FSMC_TEST_TMP/calls want=$FSMC_TEST_TMP/want
sizes='0 1 3 4 8 21'
for n in $sizes; do echo "{\"a\": $(list $n 3), \"b\": $(list $n 5)}"; done >"$calls"
for e in $(sed -n 's/^entry \([a-z_]*\) .*(b: .*/\1/p' recurrences.fsm); do
    fsmc run --interp recurrences.fsm $e --calls="$calls" | digits $e >"$want"
    echo "$e = $(sed -n 3p "$want")"
    for lanes in 0 2 4 8 auto; do
        fsmc run --fp=fast --lanes=$lanes recurrences.fsm $e --calls="$calls" | digits $e | diff "$want" - ||
            echo "$e, $lanes lanes, a line for each of n = $sizes: not as interpreted"
    done
done
fsmc run --fp=fast recurrences.fsm integers 'is=[1,2,3,4,5,6,7,8,9]' 'js=[9,8,7,6,5,4,3,2,1]'
for fp in precise contract fast; do
    echo "--fp=$fp"
    fsmc --fp=$fp --target-cpu=x86-64-v3 --emit=loops -o - recurrences.fsm | grep -E '^loops|for '
done
