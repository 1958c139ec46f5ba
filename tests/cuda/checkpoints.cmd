# How much of a loop is kept as a whole: of a GPU's memory more than of the host's.
cp checkpoints.fsm "$FSMC_TEST_TMP" && cd "$FSMC_TEST_TMP" || exit
try() { fsmc --explain=loops --emit=loops "$@" checkpoints.fsm -o loops.txt 2>&1 | grep checkpoint: ; }
try
try --target=cuda
echo 'device_tape 4096' >small.machine
try --target=cuda --machine=small.machine
