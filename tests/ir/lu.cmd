# LU decomposition: in place, as a careful programmer would, forwards and backwards.
. ./count.sh
a='a=[[4,1,2],[1,5,3],[2,1,6]]' dlu='dlu=[[1,2,3],[4,5,6],[7,8,10]]'
for entry in lu lu_two_steps; do show lu.ir $entry "$a"; done
show lu.ir lu_gradient "$a" "$dlu"
agree lu.ir lu_trace "$a"; agree lu.ir lu_reverse "tr=$(array 3 3 3)" "$dlu"
for n in 6 12 24; do
    triangle=$((n * (n - 1) / 2)) # the sums of m and of m * m for m = 0 ... n - 1
    pyramid=$((n * (n - 1) * (2 * n - 1) / 6))
    echo "a=$(dominant $n)" >"$FSMC_TEST_TMP/a"
    a=$(cat "$FSMC_TEST_TMP/a")
    lu="$((n + 2 * triangle + pyramid)) $((n * n + n + 2 * triangle + 2 * pyramid)) $((n * n + triangle + pyramid)) 0"
    count "n = $n" "$lu" lu.ir lu "$a"
    count "n = $n" "$lu" lu.ir lu_two_steps "$a"
    count "n = $n" "$((n + 2 * triangle + pyramid + n * n + n * n * n)) \
        $((n * n + n + 2 * triangle + 2 * pyramid + n * n * n)) $((n * n + triangle + pyramid + n * n * n)) 0" lu.ir lu_trace "$a"
    # backwards, for m = 0 ... n - 1: m quotients; two products of m * m; row, column and corner
    array $n $n $n >"$FSMC_TEST_TMP/tr"
    count "n = $n" "$((n + 6 * triangle + 2 * pyramid)) $((n * n + 3 * n + 6 * triangle + 4 * pyramid)) \
        $((n * n + n + 4 * triangle + pyramid)) $((16 * n))" lu.ir lu_reverse "tr=@$FSMC_TEST_TMP/tr" "dlu${a#a}"
    count "n = $n" "- - - $((8 * n * n * n + 8 * n * n + 16 * n))" lu.ir lu_gradient "$a" "dlu${a#a}"
done
