# Sourced by the tests of this folder: builds examples/ba.c with what fsmc makes of examples/ba.fsm.
cd "$FSMC_TEST_TMP" || exit 1
fsmc "$FSMC_ROOT/examples/ba.fsm" -o ba.o || exit 1
$CC -O1 -Wall -Wextra -Werror -I. -I"$FSMC_ROOT/include" "$FSMC_ROOT/examples/ba.c" ba.o "$FSMC_BUILD/libfsmrt.a" -lm -o ba ||
    exit 1
