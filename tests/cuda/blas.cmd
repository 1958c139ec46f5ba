# cuBLAS is replaced by what says how it was asked.
build() { ${FSMC_CXX:-g++} -std=c++17 -O1 -Wall -Wextra -Werror "$@" -I "$FSMC_ROOT/include" -I . -x c++ blas.cpp -x none "$FSMC_BUILD/libfsmrt.a" -lm -pthread; }
build -o "$FSMC_TEST_TMP/tiles" && "$FSMC_TEST_TMP/tiles" && build -DFSM_CUDA_CUBLAS -I fake -o "$FSMC_TEST_TMP/blas" && "$FSMC_TEST_TMP/blas"
