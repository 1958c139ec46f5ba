# All cameras, points and weights differ; one camera is not turned. Pattern and values are ADBench's.
here=$FSMC_ROOT/tests/examples
. ./build_ba.sh
./ba --no-times --all "$here/ba_varied.txt" --compare "$here/ba_varied.expected" >log || cat log
head -2 log
# Work is linear in the number of observations.
problem() {
    awk -v p="$1" 'BEGIN {
        srand(1)
        printf "[[[0.1,0.2,0.3,1,2,3,4,5,6,0.7,0.8],[0,0,0,1,2,3,4,5,6,0.7,0.8]],[[1,2,9],[2,3,8],[4,5,7]],["
        for (o = 0; o < p; o++) printf "%s%d", o ? "," : "", o + 1
        printf "],["
        for (o = 0; o < p; o++) printf "%s[%d,%d]", o ? "," : "", o % 2, o % 3
        printf "],["
        for (o = 0; o < p; o++) printf "%s[1,2]", o ? "," : ""
        printf "]]\n"
    }'
}
for p in 10 20 40; do problem $p | fsmc cost "$FSMC_ROOT/examples/ba.fsm" ba_jacobian; done |
    sed 's/[^0-9 ]//g' | awk '{
        for (i = 1; i <= NF; i++) if (NR == 3 && $i - last[i] != 2 * (last[i] - first[i])) print "not linear: " $i
        for (i = 1; i <= NF; i++) { first[i] = last[i]; last[i] = $i }
        bytes = $NF
    } END { print "bytes " bytes }'
