# sh nvcc.sh FILE.cu [OPTION…]: nvcc accepts it for two kinds of GPUs, its assembler for one, without a warning. Without optimisation,
# which takes most of the time and warns of nothing.
nvcc=${FSM_NVCC:-nvcc}
command -v "$nvcc" >/dev/null || { echo "nvcc is not installed"; exit 77; }
try() { "$nvcc" -std=c++17 -Xcicc -O0 -Werror all-warnings -I "$FSMC_ROOT/include" "$@"; }
try -arch=sm_80 -Xptxas -O0 -Xcompiler -Wall,-Wextra -c "$@" -o "$FSMC_TEST_TMP/object.o" &&
    try -arch=compute_90 -ptx "$@" -o "$FSMC_TEST_TMP/object.ptx" && echo "$@"
