# Products in batches: which there are, and that they give what the host's code does.
case $CC in *fsanitize*) echo "the run-time library is sanitized otherwise"; exit 77 ;; esac
cp batches.fsm batches.cpp "$FSMC_TEST_TMP" && cd "$FSMC_TEST_TMP" && fsmc -O0 batches.fsm -o cpu.o && mv cpu.h batches.h || exit
build() { ${FSMC_CXX:-g++} -std=c++17 -O0 -I "$FSMC_ROOT/include" "$@" -x none "$FSMC_BUILD/libfsmrt.a" -lm -pthread; }
build batches.cpp cpu.o -o cpu && ./cpu >want
fsmc --target=cuda --fp=fast --emit=cuda,header batches.fsm -o batches
sed -n 's/.*fsm::cuda::one_of_batch\((.*\), fsm_left.*/batch\1)/p; s/.*fsm::cuda::\(matmul<.*\)/\1/p; /_device(/s/(.*//p' batches.cu
for least in 2 16; do build -DFSM_LEAST_PRODUCT=$least -x c++ batches.cu batches.cpp -o gpu && ./gpu | diff - want && echo "as on the host"; done
