# Rows of results that are larger than caches wait until those of all lanes are there, and go past the caches: here from 40 rows on. By
# vectors of the processor, and of 4; in one thread, and in chunks for several.
[ "$(uname -m)" = x86_64 ] || { echo "this is not x86-64"; exit 77; }
v3=x86-64-v3
grep -qs avx2 /proc/cpuinfo || v3=native
printf 'stream 3120\nchunk 8\n' >"$FSMC_TEST_TMP/small.txt"
fsmc --fp=fast --target-cpu=x86-64-v3 --emit=loops -o - row_streams.fsm | grep -E 'for '
for cpu in x86-64-v3 x86-64-v4; do fsmc --target-cpu=$cpu --emit=asm -o - row_streams.fsm | grep -c sfence; done
for cpu in native $v3; do
    for threads in '' --threads=3; do
        fsmc --machine="$FSMC_TEST_TMP/small.txt" --target-cpu=$cpu $threads row_streams.fsm -o "$FSMC_TEST_TMP/row_streams.o" &&
        $CC -I"$FSMC_ROOT/include" -I"$FSMC_TEST_TMP" row_streams.c "$FSMC_TEST_TMP/row_streams.o" "$FSMC_BUILD/libfsmrt.a" -lm -pthread \
            -o "$FSMC_TEST_TMP/row_streams" && "$FSMC_TEST_TMP/row_streams" $threads || exit
    done
done
