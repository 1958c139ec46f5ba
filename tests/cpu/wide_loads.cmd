# Of what LLVM makes of loads for processors that this machine may not have: none becomes larger, which it does without fences.
[ "$(uname -m)" = x86_64 ] || { echo "this is not x86-64"; exit 77; }
command -v llc-19 >/dev/null || { echo "there is no llc-19"; exit 77; }
cd "$FSMC_ROOT" || exit
export FSMC_WIDE_CPUS="haswell x86-64-v4" FSMC_WIDE_LEVELS="0 2" FSMC_WIDE_JOBS=1
sh tests/wide_loads.sh "$FSMC_BUILD"/fsmc tests/ad/chosen_loads.fsm
FSMC_WIDE_UNFENCED=1 sh tests/wide_loads.sh "$FSMC_BUILD"/fsmc tests/ad/chosen_loads.fsm
