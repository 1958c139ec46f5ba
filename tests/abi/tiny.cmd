# Numbers below the least normal one are 0 in loops of --fp=fast, on x86-64, and elsewhere what they are.
case $(uname -m) in x86_64) ;; *) echo "the processor has another way to say it"; exit 77 ;; esac
for fp in contract fast; do
    fsmc --fp=$fp --threads=1 tiny.fsm -o "$FSMC_TEST_TMP/tiny.o" &&
        cc -O1 -I "$FSMC_ROOT/include" -I "$FSMC_TEST_TMP" tiny.c "$FSMC_ROOT"/runtime/*.c "$FSMC_TEST_TMP/tiny.o" -lm -pthread \
            -o "$FSMC_TEST_TMP/tiny" && echo "$fp" && "$FSMC_TEST_TMP/tiny"
done
