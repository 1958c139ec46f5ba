# Loops around small grids by one block, with the results of a processor: in several orders of threads, in one launch and in pieces,
# with more and fewer threads than iterations, and with every loop as launches; how many launches there are; barriers, which
# ThreadSanitizer looks at.
case $CC in *fsanitize*) echo "the run-time library is sanitized otherwise"; exit 77 ;; esac
cp folds.fsm folds.cpp "$FSMC_TEST_TMP" && cd "$FSMC_TEST_TMP" && fsmc -O0 folds.fsm -o cpu.o && mv cpu.h folds.h || exit
build() { ${compiler:-${FSMC_CXX:-g++}} -std=c++17 -O0 -I "$FSMC_ROOT/include" "$@" -x none "$FSMC_BUILD/libfsmrt.a" -lm -pthread; }
build folds.cpp cpu.o -o cpu && ./cpu | tee want
fsmc --emit=cuda folds.fsm -o folds.cu || exit
gpu() { program=$1; shift; build -DFSM_COUNTS "$@" -x c++ folds.cu folds.cpp -o $program; }
gpu one && for order in '' reverse blocks=2 guard late others; do FSM_CUDA_SHIM=$order ./one | diff - want; done
echo; ./one counts | sed -n 's/^\([a-z_]*\): .* \[/\1 [/p; /^n =/p'
gpu pieces -DFSM_FOLD_STEPS=2 -DFSM_BLOCK=32 && for order in '' reverse; do FSM_CUDA_SHIM=$order ./pieces | diff - want; done
gpu launches -DFSM_MOST_FOLD=-1 && ./launches | diff - want
echo; ./launches counts | sed -n 's/^\([a-z_]*\): .* \[/\1 [/p' | head -4
compiler=g++
gpu races -DFSM_BLOCK=32 -fsanitize=thread 2>log || { echo "g++ with ThreadSanitizer is not installed"; exit 77; }
TSAN_OPTIONS=exitcode=0 ./races >out 2>log
grep -q FATAL log || diff out want
grep -A 12 'data race' log | head -40
