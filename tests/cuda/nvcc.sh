# sh nvcc.sh FILE.cu [OPTION…]: nvcc accepts it without a warning: its front end and code generator, its assembler, and the host's
# compiler. Without optimisation, which takes most of the time and warns of nothing.
nvcc=${FSM_NVCC:-nvcc}
command -v "$nvcc" >/dev/null || { echo "nvcc is not installed"; exit 77; }
"$nvcc" -std=c++17 -arch=sm_80 -Xcicc -O0 -Xptxas -O0 -Werror all-warnings -Xcompiler -Wall,-Wextra -I "$FSMC_ROOT/include" \
    -c "$@" -o "$FSMC_TEST_TMP/object.o" && echo "$@"
