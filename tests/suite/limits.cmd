# A test that uses too much of the processor is stopped, with all its processes, and one that only waits is, too; the
# message says which. Both have no end of their own, so that no machine is fast enough to be through before the limit.
tests=$FSMC_TEST_TMP/root/tests/endless
mkdir -p "$tests"
echo 'while :; do :; done | cat' >"$tests/busy.cmd"
echo 'sleep 1000' >"$tests/waiting.cmd"
touch "$tests/busy.out" "$tests/waiting.out"
export FSMC_TEST_ROOT="$FSMC_TEST_TMP/root" FSMC_TEST_TIMES="$FSMC_TEST_TMP/times"
for name in busy waiting; do FSMC_TEST_TIMEOUT=0.01 fsmc_tests endless/$name; done | sed 's/[0-9]*\.[0-9] s/… s/g'
