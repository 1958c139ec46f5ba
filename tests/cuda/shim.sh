# sh shim.sh NAME [ORDERS]: compiles NAME.cu or NAME.cpp with the shim, as a C++ compiler does it, and runs it in several orders of
# threads and blocks, a run for each of ORDERS; without these, words are combined, since each run takes its time. A number at the end
# of a line, the bits of results, must be the same in all of them; it differs between processors.
case $CC in
*clang*) cxx=$(echo "$CC" | sed 's/clang/clang++/') ;;
*) cxx=$(echo "$CC" | sed 's/[^ ]*/g++/') ;;
esac
command -v ${cxx%% *} >/dev/null || { echo "${cxx%% *} is not installed"; exit 77; }
file=$1.cu
[ -e "$file" ] || file=$1.cpp
$cxx -std=c++17 -O1 -Wall -Wextra -Wshadow -pedantic -Werror -I "$FSMC_ROOT/include" -I . -x c++ "$file" -x none \
    "$FSMC_BUILD/libfsmrt.a" -lm -pthread -o "$FSMC_TEST_TMP/$1" || exit 1
cd "$FSMC_TEST_TMP" || exit 1
FSM_CUDA_SHIM= "./$1" >first
sed 's/ [0-9a-f]\{16\}$//' first
for order in ${2:-reverse,guard,others blocks=2,late}; do
    FSM_CUDA_SHIM=$order "./$1" >out 2>&1
    cmp -s out first || { echo "with FSM_CUDA_SHIM=$order:"; cat out; }
done
