# The most bytes that derivatives hold at once within a limit of 1024 for what they keep of a loop, and without one. Two loops
# have two limits; the states that run, arrays of the program, and their adjoints are no tape. Results are the interpreter's.
all=[$(seq -s, 0.301 0.001 0.6)]
few() { sed 's/\(\.[0-9]\{6\}\)[0-9]*/\1/g'; }
for e in $(sed -n 's/^entry \([a-z_]*\).*/\1/p' tapes.fsm); do
  case $e in data | scanned) args="x=$all" ;; *) args="x=0.4 n=300" ;; esac
  bytes() { fsmc cost "$@" tapes.fsm $e $args | sed 's/.*"bytes": \([0-9]*\).*/\1/'; }
  echo "$e: $(bytes --tape-limit=1024) $(bytes)"
  fsmc run --interp tapes.fsm $e $args | few >"$FSMC_TEST_TMP/right"
  for o in -O1 -O3 "-O3 --fp=fast"; do
    fsmc run $o --tape-limit=1024 tapes.fsm $e $args | few | cmp -s - "$FSMC_TEST_TMP/right" || echo "$e differs at $o"
  done
done
