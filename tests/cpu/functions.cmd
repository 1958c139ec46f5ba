# By the processor's vectors, and by vectors of 4.
v3=x86-64-v3
grep -qs avx2 /proc/cpuinfo || v3=native
for cpu in native $v3; do
    for fp in contract fast; do
        fsmc --target-cpu=$cpu --fp=$fp functions.fsm -o "$FSMC_TEST_TMP/functions.o" &&
        $CC $([ $fp = contract ] || echo -DFLUSHED) -I"$FSMC_ROOT/include" -I"$FSMC_TEST_TMP" functions.c "$FSMC_TEST_TMP/functions.o" "$FSMC_BUILD/libfsmrt.a" -lm -pthread \
            -o "$FSMC_TEST_TMP/functions" && "$FSMC_TEST_TMP/functions" || exit
    done
done
[ "$(uname -m)" = x86_64 ] || exit 77
echo "approximated in v3: $(for f in vrsqrtps vrcpps; do fsmc --target-cpu=x86-64-v3 --fp=fast --emit=asm functions.fsm -o - | grep -cw $f; done | xargs)"
echo "calls of libmvec: $(for cpu in x86-64-v3 x86-64-v4; do fsmc --target-cpu=$cpu --emit=asm functions.fsm -o - | grep _ZGV | grep -vc 'sin@\|cos@'; done | xargs)"
echo "blocks of exponentials: $(for cpu in x86-64-v3 x86-64-v4; do fsmc --target-cpu=$cpu --entry=exps --emit=loops functions.fsm -o - | grep -c 'blocks of lanes'; done | xargs)"
echo "branches to what is rare, of a block and of a vector: $(fsmc --target-cpu=x86-64-v3 --entry=exps --emit=llvm functions.fsm -o - | grep -c '^rare')"
rare() { fsmc --target-cpu=x86-64-v3 --entry="$1" --fp="$2" --emit=llvm functions.fsm -o - | grep -c '^rare'; }
echo "sines written here: with cosines $(rare turns fast), alone $(rare lone fast), of scalars $(rare sine fast) $(rare sine contract)"
echo "instructions for maxima with NaN, of a vector: $(fsmc --target-cpu=x86-64-v3 --fp=fast --entry=greatest --emit=llvm functions.fsm -o - | grep -c 'call nsz <4 x double> @llvm.maximum')"
echo "stacks aligned for vectors: $(for cpu in x86-64-v3 x86-64-v4 x86-64; do fsmc --target-cpu=$cpu --entry=exps --emit=llvm functions.fsm -o - | grep -c '"stackrealign"'; done | xargs)"
