# Sourced by the tests of this folder: builds examples/gmm.c with what fsmc makes of examples/gmm.fsm.
cd "$FSMC_TEST_TMP" || exit 1
fsmc "$FSMC_ROOT/examples/gmm.fsm" -o gmm.o || exit 1
$CC -O1 -Wall -Wextra -Werror -I. -I"$FSMC_ROOT/include" "$FSMC_ROOT/examples/gmm.c" gmm.o "$FSMC_BUILD/libfsmrt.a" -lm \
    -o gmm || exit 1
here=$FSMC_ROOT/tests/examples
