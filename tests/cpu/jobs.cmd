# Several threads make parts of a large module: the object is the same for any number of them, only its entries are
# seen from outside, whatever its parts call of each other, and it computes what the interpreter does.
cd "$FSMC_TEST_TMP" || exit 1
program=$FSMC_ROOT/tests/cpu/jobs.fsm
for jobs in 1 2 5; do fsmc -j $jobs --fp=fast -o $jobs.o "$program" || exit 1; done
cmp 1.o 2.o && cmp 1.o 5.o && echo "the same bytes"
[ "$(readelf -SW 1.o | grep -c ' \.text ')" -gt 1 ] && echo "several parts"
nm -g --defined-only 1.o | awk '{ print $3 }' | LC_ALL=C sort
nm -u 1.o | grep '\.' && echo "a part calls what is not there"
nm 1.o | grep -q '\.proc\.' || echo "there are no procedures"
for engine in --interp '-j 2' '-j 2 --fp=fast' '-j 2 -O0'; do
    # shellcheck disable=SC2086 # words
    for entry in value gradient; do fsmc run $engine "$program" $entry 'x=[0.3,-0.2,0.5,0.1]'; done
    fsmc run $engine "$program" curvature 'x=[0.3,-0.2,0.5,0.1]' 'v=[1,0,0.5,-1]'
done | sed 's/\([0-9]\.[0-9]\{9\}\)[0-9]*/\1/g' | LC_ALL=C sort | uniq -c
fsmc -j 0 -o 0.o "$program" 2>&1
