fsmc --emit=cuda,header small.fsm -o "$FSMC_TEST_TMP/small" && cp entries.cpp "$FSMC_TEST_TMP" && cd "$FSMC_TEST_TMP" &&
    c++ -std=c++17 -O1 -Wall -Wextra -Werror -I "$FSMC_ROOT/include" -x c++ small.cu entries.cpp -x none "$FSMC_BUILD/libfsmrt.a" -lm -pthread -o entries && ./entries | tee want
for order in late others guard; do FSM_CUDA_SHIM=$order ./entries | cmp - want; done
