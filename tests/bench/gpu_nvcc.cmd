# nvcc accepts the harness for GPUs, and what it times, without a warning.
case $CC in *fsanitize*) echo "the run-time library is sanitized"; exit 77 ;; esac
nvcc=${FSM_NVCC:-nvcc}
command -v "$nvcc" >/dev/null || { echo "nvcc is not installed"; exit 77; }
export FSMC_EXPECT=-O0
sh "$FSMC_ROOT/bench/gpu/run.sh" --pack "$FSMC_TEST_TMP/pack" 'gmm 7' && cd "$FSMC_TEST_TMP/pack" || exit
for file in *.cu; do # what the harness itself is, also to the assembler and the host's compiler
    [ $file = run.cu ] && how='-arch=sm_90 -c' || how='-arch=compute_90 -ptx'
    "$nvcc" -std=c++17 $how -Xcicc -O0 -Xptxas -O0 -Werror all-warnings -Xcompiler -Wall,-Wextra -I include -I . $file -o run.o && echo $file
done
