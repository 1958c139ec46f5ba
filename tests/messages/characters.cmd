. ../errors/try.sh
cd "$FSMC_TEST_TMP" || exit 1
printf '\357\273\277entry f (x: Double) = x\n' >begin.fsm
try check begin.fsm
printf 'entry f (x: Double) = x\n\357\273\277entry g (x: Double) = x\n' >inside.fsm
try check inside.fsm
printf 'entry f (x: Double) = x + \001 1.0\n' >control.fsm
try check control.fsm
{ printf 'entry f (x: Double) = '; repeat 'sin (' 3000; printf x; repeat ')' 3000; } >deep.fsm
try check deep.fsm | cut -c 1-100
