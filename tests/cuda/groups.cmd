# Loops over points that go over matrices, in groups: which products there are, and that results are those of the host's code.
case $CC in *fsanitize*) echo "the run-time library is sanitized otherwise"; exit 77 ;; esac
out=$FSMC_TEST_TMP
fsmc -O0 groups.fsm -o "$out/cpu.o" && mv "$out/cpu.h" "$out/groups.h" || exit
fsmc --target=cuda --emit=cuda,header groups.fsm -o "$out/groups"
cp groups.cpp "$out" && cd "$out" || exit
build() { ${FSMC_CXX:-g++} -std=c++17 -O0 -I "$FSMC_ROOT/include" -I . "$@" -x none "$FSMC_BUILD/libfsmrt.a" -lm -pthread; }
build groups.cpp cpu.o -o cpu && ./cpu >want
sed -n '/matmul<.*fsm_size/d; s/.*fsm::cuda::one_of_batch\(([^{]*\), {*fsm_left.*/batch\1)/p; s/.*fsm::cuda::\(matmul_factors<[^(]*\).*/\1/p; s/.*fsm::cuda::\(matmul<[^{]*\), 1, {.*/\1)/p; /_device(/s/(.*//p' groups.cu | sed 's/\bt[0-9][0-9]*/…/g' # lengths, and that of the batch
build -w -DGPU -x c++ groups.cu groups.cpp -o gpu && ./gpu 2>&1 >/dev/null | cat
for order in '' reverse blocks=3; do FSM_CUDA_SHIM=$order ./gpu >got 2>&-; diff got want && echo "as on the host"; done
