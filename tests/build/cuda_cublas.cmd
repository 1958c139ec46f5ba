# With cuBLAS, and --fp=precise, which nvcc has to know of.
tools="ninja"
nvcc=$(command -v "${FSM_NVCC:-nvcc}") || { echo "nvcc is not installed"; exit 77; }
cuda=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
ls "$cuda"/lib*/libcublas.so >/dev/null 2>&1 || { echo "cuBLAS is not installed"; exit 77; }
. ./setup.sh
cp -r gpu "$FSMC_TEST_TMP/source"
cd "$FSMC_TEST_TMP" || exit 1
cmake -S source -B out -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DGPU_LANGUAGE=CUDA -DCMAKE_CUDA_COMPILER="$nvcc" \
    -DCMAKE_CUDA_ARCHITECTURES=90 -DCMAKE_BUILD_TYPE=Release -DGPU_MORE=CUBLAS >log 2>&1 || { echo "CMake does not take this nvcc"; exit 77; }
cmake --build out -v >log 2>&1 || cat log
grep -o -e -fmad=false -e libcublas.so log | sort -u
test -x out/app && echo linked
