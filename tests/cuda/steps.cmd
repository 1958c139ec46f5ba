# What loops do for many steps at once, before these or after them: results as on a processor, with products as calls and as
# kernels, in several orders of threads, with room for all steps and for one or two; how many launches there are.
case $CC in *fsanitize*) echo "the run-time library is sanitized otherwise"; exit 77 ;; esac
cp steps.fsm steps.cpp "$FSMC_TEST_TMP" && cd "$FSMC_TEST_TMP" && fsmc -O0 steps.fsm -o cpu.o && mv cpu.h steps.h || exit
build() { ${FSMC_CXX:-g++} -std=c++17 -O0 -I "$FSMC_ROOT/include" "$@" -x none "$FSMC_BUILD/libfsmrt.a" -lm -pthread; }
build steps.cpp cpu.o -o cpu && ./cpu | tee want
gpu() { program=$1; source=$2; shift 2; build -DFSM_COUNTS "$@" -x c++ $source steps.cpp -o $program; }
fsmc --emit=cuda steps.fsm -o steps.cu && fsmc --explain=schedule --target=cuda --emit=loops steps.fsm -o loops.txt 2>&1 | grep 'at once'
gpu plain steps.cu -DFSM_MOST_FOLD=-1 && for order in '' reverse guard others; do FSM_CUDA_SHIM=$order ./plain | diff - want; done
gpu calls steps.cu -DFSM_MOST_FOLD=-1 -DFSM_LEAST_PRODUCT=1 && for order in '' reverse late; do FSM_CUDA_SHIM=$order ./calls | diff - want; done
./calls counts
gpu folds steps.cu && ./folds | diff - want
for room in 0 700; do # for no steps, and for one or two
    echo "device_steps $room" >small.machine
    fsmc --machine=small.machine --emit=cuda steps.fsm -o small.cu && gpu small small.cu -DFSM_MOST_FOLD=-1 -DFSM_LEAST_PRODUCT=1 && ./small | diff - want
done
fsmc --fp=fast --emit=cuda steps.fsm -o fast.cu && gpu fast fast.cu -DFSM_LEAST_PRODUCT=1 && ./fast | diff - want
