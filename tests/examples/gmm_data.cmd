# Two runs with one seed are equal, the file has the promised shape, and arguments are checked.
$CC -O1 -Wall -Wextra -Werror "$FSMC_ROOT/examples/gmm_data.c" -lm -o "$FSMC_TEST_TMP/gmm_data" || exit 1
cd "$FSMC_TEST_TMP"
./gmm_data 3 4 50 7 >a; ./gmm_data 3 4 50 7 >b; ./gmm_data 3 4 50 8 >c
cmp a b && ! cmp -s a c && echo repeatable
awk '{count[NF]++} END {for (n = 1; n <= 6; n++) print n, count[n] + 0}' a
head -n 1 a; tail -n 1 a
./gmm_data 0 4 50 7; ./gmm_data 3 4 5x 7; ./gmm_data
