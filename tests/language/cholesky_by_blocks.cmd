# All are 0 but for rounding, in each engine.
small() { tr -c '0-9.e+-' '\n' | awk '/[0-9]/ { n++; if (!($1 < 1e-11)) print "large:", $1 } END { print n, "small" }'; }
for case in -O0,97 -O2,95,96 -O2+--fp=precise,128 -O2+--fp=fast,97 -O1+--fp=fast+--threads=3,97,130; do
    for e in factored solved identity; do
        echo "${case#*,}" | tr , '\n' | sed 's/.*/[&]/' | fsmc run $(echo ${case%%,*} | tr + ' ') cholesky_by_blocks.fsm $e --calls=-
    done
done | small
fsmc run --interp cholesky_by_blocks.fsm factored n=100 | small
fsmc run --fp=fast cholesky_by_blocks.fsm factored n=333 | small
