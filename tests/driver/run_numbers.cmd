# Numbers of arguments: whole ones for an Int in any spelling, and what is refused.
. ../errors/try.sh
cd "$FSMC_TEST_TMP" || exit 1
echo 'entry k (x: Int) = x
entry f (x: Double) = x' >m.fsm
for x in 3 3.0 1e3 1E+3 -0.0 30e-1 9007199254740992.0 9223372036854775807 -9223372036854775808 +5 007; do try run m.fsm k x=$x; done
for x in 2.5 1e300 9007199254740994.0 9223372036854775808 NaN true '"3"' '[3]' null '' 0x10 1_000 3,; do try run m.fsm k "x=$x"; done
for x in .5 +1 -1. 1e400 NaN -Infinity '"Infinity"' 0x1p3 '"one"' 123456789012345678901234567890; do try run m.fsm f "x=$x"; done
for text in '[3.0]' '{"x": 1e3}' '[2.5]' '{"y": 3}' '{"x": 1, "x": 2}' '[]' '[1, 2]' '3' '"x"' '[3' '' '[3] 4'; do
    echo "$text" | try run m.fsm k
done
