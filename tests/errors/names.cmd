# Names of entries that C reserves, or that its library has.
. ./try.sh
cd "$FSMC_TEST_TMP" || exit 1
for name in int class FSM_OK fsm_x INT64_MAX offsetof main sin sqrtf hypot remainder y0l strlen abs write index _start __x; do
    echo "entry $name (x: Double) = x + 1" >names.fsm
    try names.fsm | sed -n 2p
done
for name in sine strlens double_ writes n x_t; do
    echo "entry $name (x: Double) = x + 1" >names.fsm
    try names.fsm
done
# Parameters are renamed instead.
echo 'entry f (int: Double[n]) (ctx: Int) (INT64_MAX: Bool) (FSM_OK: Double[double]) = int[ctx]' >names.fsm
try names.fsm && grep '^int' names.h
