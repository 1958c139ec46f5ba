# Copies of rows for lanes are calls of one function for each kind of elements and direction.
[ "$(uname -m)" = x86_64 ] || { echo "this is not x86-64"; exit 77; }
v3=x86-64-v3
grep -qs avx2 /proc/cpuinfo || v3=native
fsmc --fp=fast --target-cpu=x86-64-v4 --emit=llvm -o - row_copies.fsm | grep -o '^define.*fsm.rows[^(]*\|call.*fsm.rows[^(]*' | sort | uniq -c
for cpu in native $v3; do
    for fp in fast contract; do
        fsmc --fp=$fp --target-cpu=$cpu row_copies.fsm -o "$FSMC_TEST_TMP/row_copies.o" &&
        $CC -I"$FSMC_ROOT/include" -I"$FSMC_TEST_TMP" row_copies.c "$FSMC_TEST_TMP/row_copies.o" "$FSMC_BUILD/libfsmrt.a" -lm -pthread \
            -o "$FSMC_TEST_TMP/row_copies" && "$FSMC_TEST_TMP/row_copies" || exit
    done
done
