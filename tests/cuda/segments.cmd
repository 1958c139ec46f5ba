# Scans and sums along rows, in loops that are taken apart where rows are few and long, with the results of the loops, and the same in any order.
case $CC in *fsanitize*) echo "the run-time library is sanitized otherwise"; exit 77 ;; esac
fsmc --target=cuda --fp=fast --emit=loops segments.fsm | grep '^loops\|scan for\|grid for\|outer for\|^  } else\|^        for'
cp segments.fsm segments.cpp "$FSMC_TEST_TMP" && cd "$FSMC_TEST_TMP" && fsmc -O0 segments.fsm -o cpu.o && mv cpu.h segments.h || exit
build() { ${FSMC_CXX:-g++} -std=c++17 -I "$FSMC_ROOT/include" "$@" -x none "$FSMC_BUILD/libfsmrt.a" -lm -pthread; }
build segments.cpp cpu.o -o cpu && ./cpu >want
fsmc --target=cuda --fp=fast --emit=cuda,header segments.fsm -o segments
sed -n '/fsm::cuda::recurrence/p' segments.cu
build -O1 -w -x c++ segments.cu segments.cpp -o gpu
./gpu >out; diff out want && echo "as on the host"
for order in reverse,blocks=3 guard; do FSM_CUDA_SHIM=$order ./gpu 7 >out; head -n $(wc -l <out) want | diff out - && echo "as on the host"; done
fsmc --target=cuda --emit=cuda,header segments.fsm -o segments && build -O0 -w -x c++ segments.cu segments.cpp -o gpu && ./gpu 5 >out; head -n $(wc -l <out) want | diff out - && echo "as on the host"
