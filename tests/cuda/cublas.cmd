# Generated code that uses cuBLAS, which is replaced (fake/), gives what it gives without. Only nvcc sees the option.
fsmc --emit=cuda,header --cublas products.fsm -o "$FSMC_TEST_TMP/products" || exit
fsmc --target=cuda --cublas --emit=manifest products.fsm | grep -e -lcu
cp -r cublas.cpp fake "$FSMC_TEST_TMP" && cd "$FSMC_TEST_TMP" && head -n 5 products.cu
build() { ${FSMC_CXX:-c++} -std=c++17 -O0 "$@" -I "$FSMC_ROOT/include" -x c++ products.cu cublas.cpp -x none "$FSMC_BUILD/libfsmrt.a" -lm -pthread; }
build -o tiles && ./tiles
build -DFSM_CUDA_CUBLAS -I fake -o blas && for order in '' others; do FSM_CUDA_SHIM=$order ./blas; done
