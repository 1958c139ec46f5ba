sh nvcc.sh factors.cu || exit
# Products are other code for later GPUs (factors.h).
nvcc=${FSM_NVCC:-nvcc}
"$nvcc" -std=c++17 -arch=compute_90 -Xcicc -O0 -Werror all-warnings -I "$FSMC_ROOT/include" -ptx factors.cu -o "$FSMC_TEST_TMP/object.ptx"
