# nvcc accepts all of it without a warning.
nvcc=${FSM_NVCC:-nvcc}
command -v "$nvcc" >/dev/null || { echo "nvcc is not installed"; exit 77; }
for file in *.cu; do
    "$nvcc" -std=c++17 -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -Werror all-warnings \
        -Xcompiler -Wall,-Wextra -I "$FSMC_ROOT/include" -c "$file" -o "$FSMC_TEST_TMP/object.o" && echo "$file"
done
