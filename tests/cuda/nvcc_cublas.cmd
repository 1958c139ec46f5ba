# cuBLAS is a package of its own.
nvcc=${FSM_NVCC:-nvcc}
command -v "$nvcc" >/dev/null || { echo "nvcc is not installed"; exit 77; }
echo '#include <cublas_v2.h>' | "$nvcc" -x cu -E - >/dev/null 2>&1 || { echo "cuBLAS is not installed"; exit 77; }
sh nvcc.sh primitives.cu -DFSM_CUDA_CUBLAS
export FSM_NVCC="$nvcc -Xcicc -O0 -Xptxas -O0"
fsmc --target=cuda --cuda-arch=sm_90 products.fsm -o "$FSMC_TEST_TMP/tiles.o" &&
    fsmc --target=cuda --cuda-arch=sm_90 --cublas products.fsm -o "$FSMC_TEST_TMP/blas.o" && cd "$FSMC_TEST_TMP" &&
    for file in tiles.o blas.o; do echo "$file: $(nm -u $file | grep -c 'cublas.gemm')"; done
