sh shim.sh factors
${FSMC_CXX:-g++} -std=c++17 -O0 -Wall -Wextra -Werror -DFSM_CUDA_CUBLAS -DFSM_LARGE_FACTORS=33 -I fake -I "$FSMC_ROOT/include" -I . -x c++ factors.cu -x none "$FSMC_BUILD/libfsmrt.a" -lm -pthread -o "$FSMC_TEST_TMP/blas" && "$FSMC_TEST_TMP/blas" | sed 's/ [0-9a-f]\{16\}$//'
