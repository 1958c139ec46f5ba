# The derivatives of bench/adbench are those of the other mode.
small() { tr -d '[],' | tr ' ' '\n' | awk '{ if ($1 == int($1) && $1 > 0) print $1; else if ($1 < 1e-12) close_by++; else print $1 } END { print close_by " close" }'; }
run() { echo "$*"; fsmc run adbench_modes.fsm "$@" | small; }
run -O0 gmm k=3 d=4 n=7 sign=1
run -O0 gmm k=3 d=4 n=7 sign=-1
run --interp lstm l=2 b=3 c=6
run -O0 hand v=30 n=9 turn=1
run -O0 hand v=30 n=9 turn=0.00001
run -O0 ba n=3 m=4 p=8
# And that of differences.
check() { fsmc gradcheck "$@" >"$FSMC_TEST_TMP/log" 2>&1 && echo "$2: differences agree" || cat "$FSMC_TEST_TMP/log"; }
check "$FSMC_ROOT/bench/adbench/gmm.fsm" gmm_objective k=3 d=3 n=4 gamma=0.7 m=3 sign=-1
check "$FSMC_ROOT/bench/adbench/lstm.fsm" lstm_objective l=2 b=3 c=5
