# What is printed does not depend on where things are in memory, which differs from run to run.
for program in ad/turned ad/split_as_given ad/narrow cuda/blocks cuda/groups; do
    for options in "-O0 --fp=fast" "-O3 --fp=fast"; do
        for i in 1 2 3 4 5 6; do
            fsmc $options --target=cuda --emit=loops,cuda "$FSMC_ROOT/tests/$program.fsm" -o "$FSMC_TEST_TMP/x.o" &&
                cat "$FSMC_TEST_TMP"/x.* | cksum
        done | sort -u | wc -l
    done
done | sort | uniq -c | tr -s ' '
