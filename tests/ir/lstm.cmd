# An LSTM layer: the weights' adjoints are added up in place, and nothing is copied but the state of a cell.
. ./count.sh
n=3 d=2 b=3
weights="w=$(array 4 $b $d) u=$(array 4 $b $b) bias=$(array 4 $b) x=$(array $n $d) h0=$(array $b) c0=$(array $b)"
show lstm.ir forward $weights
agree lstm.ir trace $weights
show lstm.ir reverse "u=$(array 4 $b $b)" "x=$(array $n $d)" "hs=$(array $n $b)" "cs=$(array $n $b)" "zs=$(array $n 4 $b)" \
    "dh0=$(array $b)" "dc0=$(array $b)"
for sizes in '3 4 4' '6 4 4' '3 16 4' '3 4 16' '3 16 16'; do
    set -- $sizes
    n=$1 d=$2 b=$3
    weights="w=$(array 4 $b $d) u=$(array 4 $b $b) bias=$(array 4 $b) x=$(array $n $d) h0=$(array $b) c0=$(array $b)"
    # step by step: 4 b (d + b) products, the gates' sums, and the cells
    inner=$((4 * b * (d + b)))
    count "n = $n, d = $d, b = $b" "$((n * (1 + inner + 5 * b + 4))) $((2 * b + n * (2 * inner + 10 * b))) \
        $((2 * b + n * 6 * b)) $((8 * 4 * b))" lstm.ir forward --disable-pass=ahead $weights
    count "n = $n, d = $d, b = $b" "$((n * (1 + inner + 11 * b + 8))) $((2 * b + n * (2 * inner + 16 * b))) \
        $((2 * b + n * 12 * b)) $((8 * 4 * b))" lstm.ir trace --disable-pass=ahead $weights
    # a step: 4 b d and 4 b b additions to the weights' adjoints, 4 b b products for that of h
    count "n = $n, d = $d, b = $b" "$((n * (1 + 4 * b * d + 8 * b * b))) $((n * (8 * b * d + 20 * b * b))) \
        $((n * (4 * b * d + 8 * b * b))) -" \
        lstm.ir reverse "u=$(array 4 $b $b)" "x=$(array $n $d)" "hs=$(array $n $b)" "cs=$(array $n $b)" \
        "zs=$(array $n 4 $b)" "dh0=$(array $b)" "dc0=$(array $b)"
done
