# The heap of threads: as large as the entry makes it, as the program does, and too small.
fsmc --emit=cuda,header heap.fsm -o "$FSMC_TEST_TMP/heap" && cp heap.cpp "$FSMC_TEST_TMP" && cd "$FSMC_TEST_TMP" &&
    c++ -std=c++17 -O1 -Wall -Wextra -Werror -I "$FSMC_ROOT/include" -x c++ heap.cu heap.cpp -x none "$FSMC_BUILD/libfsmrt.a" -lm -pthread -o heap || exit
./heap
FSM_CUDA_SHIM=memory=40000000 ./heap
FSM_CUDA_SHIM=memory=40000000 ./heap 12000000
