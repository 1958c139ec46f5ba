# nvcc accepts the harness for GPUs, and what it times, without a warning.
case $CC in *fsanitize*) echo "the run-time library is sanitized"; exit 77 ;; esac
nvcc=${FSM_NVCC:-nvcc}
command -v "$nvcc" >/dev/null || { echo "nvcc is not installed"; exit 77; }
sh "$FSMC_ROOT/bench/gpu/run.sh" --pack "$FSMC_TEST_TMP/pack" 'gmm 7' && cd "$FSMC_TEST_TMP/pack" || exit
for file in *.cu; do
    "$nvcc" -std=c++17 -arch=sm_90 -Xcicc -O0 -Xptxas -O0 -Werror all-warnings -Xcompiler -Wall,-Wextra -I include -I . -c $file -o run.o && echo $file
done
