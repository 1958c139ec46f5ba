# A bug of the compiler names the pass, leaves a reproducer, and exits with 3; `FSMC_TEST_BUG=PASS` feigns one.
. ../errors/try.sh
mkdir "$FSMC_TEST_TMP/bugs"
export TMPDIR="$FSMC_TEST_TMP/bugs"
for pass in parse infer elaborate fuse lower; do
    FSMC_TEST_BUG=$pass try run ../errors/calls.fsm square x=2 | sed 's/fsmc-bug-.*/fsmc-bug-XXXXXX/'
    sed -n 1,2p "$TMPDIR"/*
    tail -n +4 "$TMPDIR"/* | cmp - ../errors/calls.fsm
    rm "$TMPDIR"/*
done
