# Loops with recurrences become scans, with the results of the loops, and the same in any order of blocks.
case $CC in *fsanitize*) echo "the run-time library is sanitized otherwise"; exit 77 ;; esac
fsmc --target=cuda --fp=fast --emit=loops recurrences.fsm | grep '^loops\|for '
echo; fsmc --target=cuda --fp=precise --emit=loops recurrences.fsm | grep -c 'scan for'; fsmc --target=cuda --emit=loops recurrences.fsm | grep -c 'scan for'
cp recurrences.fsm recurrences.cpp "$FSMC_TEST_TMP" && cd "$FSMC_TEST_TMP" && fsmc -O0 recurrences.fsm -o cpu.o && mv cpu.h recurrences.h || exit
build() { ${FSMC_CXX:-g++} -std=c++17 -O0 -I "$FSMC_ROOT/include" "$@" -x none "$FSMC_BUILD/libfsmrt.a" -lm -pthread; }
build recurrences.cpp cpu.o -o cpu && ./cpu >want
fsmc --target=cuda --fp=fast --emit=cuda,header recurrences.fsm -o recurrences
sed -n '/fsm::cuda::recurrence/p' recurrences.cu
build -x c++ recurrences.cu recurrences.cpp -o gpu
for order in '' reverse blocks=3 guard; do FSM_CUDA_SHIM=$order ./gpu >out; diff out want && echo "as on the host"; done
