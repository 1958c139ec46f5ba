# Iterations done by threads, with copies of arrays and with lists of what is added, by blocks, whose barriers ThreadSanitizer looks
# at, and with additions at once.
case $CC in *fsanitize*) echo "the run-time library is sanitized otherwise"; exit 77 ;; esac
cp blocks.fsm blocks.cpp "$FSMC_TEST_TMP" && cd "$FSMC_TEST_TMP" && fsmc --emit=cuda,header blocks.fsm -o blocks || exit
build() { ${compiler:-${FSMC_CXX:-g++}} -std=c++17 -O0 "$@" -I "$FSMC_ROOT/include" -x c++ $file.cu blocks.cpp -x none "$FSMC_BUILD/libfsmrt.a" -lm -pthread; }
file=blocks
build -DFSM_LEAST_INNER=1000000 -o threads && ./threads | tee want
grep -c by_shares blocks.cu
build -DFSM_MOST_COPY=16 -o lists && for order in '' reverse blocks=3; do FSM_CUDA_SHIM=$order ./lists | cmp - want; done
build -DFSM_LEAST_INNER=2 -o blocks && for order in '' reverse blocks=3; do FSM_CUDA_SHIM=$order ./blocks | cmp - want; done
grep -c 'block_shape.*true)' blocks.cu
build -DFSM_LEAST_INNER=2 -DFSM_ALONE=1 -DFSM_TEAMS=3 -o teams && for order in '' reverse blocks=3; do FSM_CUDA_SHIM=$order ./teams | cmp - want; done
fsmc --emit=cuda --fast-atomics blocks.fsm -o atomics.cu && grep -c add_at_once atomics.cu
file=atomics
build -DFSM_LEAST_INNER=2 -o atomics && ./atomics | cmp - want
file=blocks
compiler=g++
build -DFSM_LEAST_INNER=2 -DFSM_BLOCK=32 -fsanitize=thread -o races 2>log || { echo "g++ with ThreadSanitizer is not installed"; exit 77; }
build -DFSM_LEAST_INNER=2 -DFSM_ALONE=1 -DFSM_TEAMS=2 -fsanitize=thread -o races_of_teams 2>>log
for program in races races_of_teams; do
    TSAN_OPTIONS=exitcode=0 ./$program >out 2>log
    grep -q FATAL log || cmp out want
    grep -A 12 'data race' log | head -40
done
