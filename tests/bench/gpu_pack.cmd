# What is carried to a machine with a GPU and without fsmc.
case $CC in *fsanitize*) echo "the run-time library is sanitized"; exit 77 ;; esac
command -v g++ >/dev/null || { echo "g++ is not installed"; exit 77; }
export FSMC_EXPECT=-O0
sh "$FSMC_ROOT/bench/gpu/run.sh" --pack "$FSMC_TEST_TMP/pack" 'gmm 7' && ls "$FSMC_TEST_TMP/pack"
cd "$FSMC_TEST_TMP/pack" && FSM_NVCC=/nowhere sh go.sh; echo "exit $?"
