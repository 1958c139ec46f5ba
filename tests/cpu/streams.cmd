# Arrays that are larger than caches, and only stored to, go past them: here from 40 elements of `one` on. By vectors of the processor, and
# of 4; in one thread, and in chunks for several.
[ "$(uname -m)" = x86_64 ] || { echo "this is not x86-64"; exit 77; }
v3=x86-64-v3
grep -qs avx2 /proc/cpuinfo || v3=native
printf 'stream 936\nchunk 8\n' >"$FSMC_TEST_TMP/small.txt"
for e in one two again matrix; do
    fsmc --fp=fast --target-cpu=x86-64-v3 --entry=$e --emit=loops -o - streams.fsm | sed '/^} otherwise/q' | grep -E 'for '
    for cpu in x86-64-v3 x86-64-v4; do fsmc --target-cpu=$cpu --entry=$e --emit=asm -o - streams.fsm | grep -cE 'vmovnt|sfence'; done
done
for cpu in native $v3; do
    for threads in '' --threads=3; do
        fsmc --machine="$FSMC_TEST_TMP/small.txt" --target-cpu=$cpu $threads streams.fsm -o "$FSMC_TEST_TMP/streams.o" &&
        $CC -I"$FSMC_ROOT/include" -I"$FSMC_TEST_TMP" streams.c "$FSMC_TEST_TMP/streams.o" "$FSMC_BUILD/libfsmrt.a" -lm -pthread \
            -o "$FSMC_TEST_TMP/streams" && "$FSMC_TEST_TMP/streams" $threads || exit
    done
done
