# Every entry by the interpreter; some compiled too. The numbers of each are the same.
same() {
    fsmc run "$@" x=0.7 | tr -d '[] ' | tr , '\n' |
        awk -v what="$*" 'NR == 1 { first = $1; print what, sprintf("%.10g", first) }
            { d = $1 - first; if (!(d < 1e-10 && d > -1e-10)) print "   ", $1 }'
}
for entry in $(sed -n 's/^entry \([A-Za-z0-9_]*\) .*/\1/p' third_derivatives.fsm); do
    same --interp third_derivatives.fsm $entry
done
for entry in solveThird loopInRule ruleInLoop ruleInLoopTwice solveInLoop; do same -O1 third_derivatives.fsm $entry; done
