# The same in CMake's language CUDA; the program runs where there is a GPU.
tools="ninja"
nvcc=$(command -v "${FSM_NVCC:-nvcc}") || { echo "nvcc is not installed"; exit 77; }
. ./setup.sh
cp -r gpu "$FSMC_TEST_TMP/source"
cd "$FSMC_TEST_TMP" || exit 1
cmake -S source -B out -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DGPU_LANGUAGE=CUDA -DCMAKE_CUDA_COMPILER="$nvcc" \
    -DCMAKE_CUDA_ARCHITECTURES=90 >log 2>&1 || { echo "CMake does not take this nvcc"; exit 77; }
cmake --build out >log 2>&1 || cat log
grep -o 'rows.kernels.cu' log
test -x out/app && echo linked
