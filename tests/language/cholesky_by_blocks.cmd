# All are 0 but for rounding, in each engine.
small() { tr -c '0-9.e+-' '\n' | awk '/[0-9]/ { n++; if (!($1 < 1e-11)) print "large:", $1 } END { print n, "small" }'; }
for n in 95 96 97 128 130; do
    for how in -O0 -O2 -O2+--fp=precise -O2+--fp=fast+--threads=3; do
        for e in factored solved identity; do fsmc run $(echo $how | tr + ' ') cholesky_by_blocks.fsm $e n=$n; done
    done
done | small
fsmc run --interp cholesky_by_blocks.fsm factored n=100 | small
fsmc run --fp=fast cholesky_by_blocks.fsm factored n=333 | small
