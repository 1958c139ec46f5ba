# Iterations done by threads, and by blocks, whose barriers ThreadSanitizer looks at.
case $CC in *fsanitize*) echo "the run-time library is sanitized otherwise"; exit 77 ;; esac
fsmc --emit=cuda,header blocks.fsm -o "$FSMC_TEST_TMP/blocks" && cp blocks.cpp "$FSMC_TEST_TMP" && cd "$FSMC_TEST_TMP" || exit
build() { ${FSMC_CXX:-g++} -std=c++17 -O1 "$@" -I "$FSMC_ROOT/include" -x c++ blocks.cu blocks.cpp -x none "$FSMC_BUILD/libfsmrt.a" -lm -pthread; }
build -DFSM_LEAST_INNER=1000000 -o threads && ./threads
build -DFSM_LEAST_INNER=2 -o blocks && for order in '' reverse blocks=3; do FSM_CUDA_SHIM=$order ./blocks >out; ./threads | cmp - out; done
build -DFSM_LEAST_INNER=2 -DFSM_BLOCK=32 -fsanitize=thread -o races 2>log || { echo "g++ with ThreadSanitizer is not installed"; exit 77; }
TSAN_OPTIONS=exitcode=0 ./races >out 2>log
grep -q FATAL log || ./threads | cmp - out
grep -A 12 'data race' log | head -40
