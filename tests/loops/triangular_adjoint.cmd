# Iterations of a value and of its gradient, at n and at 4 n: both grow alike.
numbers() { awk -v n="$1" -v a="$2" 'BEGIN { printf "%s=[", a; for (i = 0; i < n; i++) printf "%s%g", i ? "," : "", i % 7 / 8 - 0.3; print "]" }'; }
for e in scaled through clamped steps pairs loops backward; do
    for n in 12 48; do
        for f in $e ${e}_grad; do
            echo "$f $n $(fsmc cost triangular_adjoint.fsm $f "$(numbers $n x)" "$(numbers $n w)" | grep -o '"iterations": [0-9]*')"
        done
    done
    for how in --interp -O0 -O2 '-O2 --fp=fast'; do
        fsmc run $how triangular_adjoint.fsm ${e}_grad "$(numbers 6 x)" "$(numbers 6 w)" | grep -oE '[-0-9.e]+' | awk '{ printf "%.9f ", $1 } END { print "" }'
    done | uniq -c
done
