# sh nvcc.sh FILE.cu [OPTION…]: nvcc accepts it for two kinds of GPUs, without a warning.
nvcc=${FSM_NVCC:-nvcc}
command -v "$nvcc" >/dev/null || { echo "nvcc is not installed"; exit 77; }
"$nvcc" -std=c++17 -gencode 'arch=compute_80,code=[sm_80,sm_90]' -Werror all-warnings -Xcompiler -Wall,-Wextra \
    -I "$FSMC_ROOT/include" -c "$@" -o "$FSMC_TEST_TMP/object.o" && echo "$@"
