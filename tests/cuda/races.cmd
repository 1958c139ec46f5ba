# ThreadSanitizer finds the races of kernels that the shim runs, and none in the primitives.
case $CC in *fsanitize*) echo "the run-time library is sanitized otherwise"; exit 77 ;; esac
flags="-std=c++17 -O1 -fsanitize=thread -I $FSMC_ROOT/include -I ."
for file in races.cpp primitives.cu; do
    g++ $flags -x c++ $file -x none "$FSMC_BUILD/libfsmrt.a" -lm -pthread -o "$FSMC_TEST_TMP/${file%.*}" 2>"$FSMC_TEST_TMP/log" ||
        { echo "g++ with ThreadSanitizer is not installed"; exit 77; }
done
cd "$FSMC_TEST_TMP" || exit 1
TSAN_OPTIONS=exitcode=0 ./races 1 >log 2>&1 # in some containers, it does not start
grep -q FATAL log && { echo "ThreadSanitizer does not run here"; exit 77; }
for k in 0 1 2 3 4 5 6; do
    TSAN_OPTIONS=exitcode=0 ./races $k 2>log
    grep -q 'data race' log && echo "a race" || echo "no race"
done
./primitives 2>&1 | sed 's/ [0-9a-f]\{16\}$//'
