# Twice as many Floats as Doubles are in a vector, and in a call of libmvec.
for fp in contract fast; do
    fsmc --fp=$fp floats.fsm -o "$FSMC_TEST_TMP/floats.o" &&
    $CC $([ $fp = contract ] || echo -DFLUSHED) -I"$FSMC_ROOT/include" -I"$FSMC_TEST_TMP" floats.c "$FSMC_TEST_TMP/floats.o" "$FSMC_BUILD/libfsmrt.a" -lm -pthread \
        -o "$FSMC_TEST_TMP/floats" && "$FSMC_TEST_TMP/floats" || exit
done
[ "$(uname -m)" = x86_64 ] || exit 77
for cpu in x86-64 x86-64-v3 x86-64-v4; do
    echo "$cpu:" $(fsmc --target-cpu=$cpu --emit=asm floats.fsm -o - | grep -o '_ZGV.N[0-9]*v*_[a-z]*' | sort -u)
done
