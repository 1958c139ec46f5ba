# nvcc accepts all of it without a warning, with and without cuBLAS.
nvcc=${FSM_NVCC:-nvcc}
command -v "$nvcc" >/dev/null || { echo "nvcc is not installed"; exit 77; }
compile() {
    "$nvcc" -std=c++17 -gencode 'arch=compute_80,code=[sm_80,sm_90]' -Werror all-warnings \
        -Xcompiler -Wall,-Wextra -I "$FSMC_ROOT/include" "$@" -o "$FSMC_TEST_TMP/object.o"
}
for file in *.cu; do
    compile -c "$file" && echo "$file"
done
echo '#include <cublas_v2.h>' >"$FSMC_TEST_TMP/blas.cu"
compile -c "$FSMC_TEST_TMP/blas.cu" >/dev/null 2>&1 || exit 0 # it is a package of its own
compile -c -DFSM_CUDA_CUBLAS primitives.cu
