# nvcc accepts the harness for GPUs; what it times is compiled in cuda/cuda_nvcc.
nvcc=${FSM_NVCC:-nvcc}
command -v "$nvcc" >/dev/null || { echo "nvcc is not installed"; exit 77; }
cd "$FSMC_TEST_TMP" && fsmc --target=cuda --emit=header "$FSMC_ROOT/bench/gpu/programs.fsm" -o programs.h &&
    "$nvcc" -std=c++17 -arch=sm_90 -Werror all-warnings -Xcompiler -Wall,-Wextra -I "$FSMC_ROOT/include" -I . \
        -c "$FSMC_ROOT/bench/gpu/run.cu" -o run.o && echo compiled
