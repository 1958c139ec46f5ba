# Errors at run time inside of the prelude have the line of the user's use of it.
cat >"$FSMC_TEST_TMP/m.fsm" <<'END'
entry slice (v: Double[n]) (k: Int) = vectorSlice v k (k + 5)
let part v k =
  vectorSlice v k (k + 5)
entry trace (m: Double[r][c]) =
  matrixTrace m
entry inner (v: Double[n]) (k: Int) =
  part v k
entry lengths (v: Double[n]) (w: Double[r]) =
  vectorDot v w
END
cd "$FSMC_TEST_TMP" || exit 1
for how in --interp --exec -O2; do
    fsmc run $how m.fsm slice 'v=[1]' k=0
    fsmc run $how m.fsm trace 'm=[[1],[2]]'
    fsmc run $how m.fsm inner 'v=[1]' k=0
    fsmc run $how m.fsm lengths 'v=[1]' 'w=[1,2]'
done
