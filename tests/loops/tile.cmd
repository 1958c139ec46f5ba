# What is in tiles, where matrices are not small; the same values for whole and broken tiles, rows and columns, and with threads.
echo "registers 32" >"$FSMC_TEST_TMP/many"
echo "cache 1024" >"$FSMC_TEST_TMP/small"
for e in value wished whole_grad lower_grad strict_grad; do
    echo "$e:"
    fsmc --fp=fast --lanes=4 --entry=$e --emit=loops -o - tile.fsm | sed '/^} otherwise/q' | grep -E '^ *(outer|(blocks of )?lanes) for' | sed 's/_*[0-9]* [<=] .*//'
done
row() { awk -v n="$1" -v s="$2" 'BEGIN { for (i = 0; i < n; i++) printf "%s%.3f", i ? "," : "[", 0.3 * sin(s + 3 * i); print "]" }'; }
rows() { for i in $(seq $1); do row $2 $i; done | paste -sd, | sed 's/.*/[&]/'; }
digest() { awk -F'[][, ]+' '{ for (i = 1; i <= NF; i++) if ($i != "") s += (i % 13 + 1) * $i } END { printf "%.8g\n", s }'; }
run() { # D N ENTRY OPTION...
    d=$1 n=$2 e=$3
    shift 3
    fsmc run "$@" tile.fsm $e "q=[$(rows $d $d),$(rows $d $d)]" "m=$(rows 2 $d)" "x=$(rows $n $d)" | digest
}
for e in value whole_grad lower_grad strict_grad; do
    run 16 17 $e --interp
    run 16 17 $e --exec --lanes=4
    run 19 50 $e --exec --lanes=0
    run 19 50 $e --exec --lanes=4 --machine="$FSMC_TEST_TMP/many"
    run 19 50 $e --exec --lanes=8 --machine="$FSMC_TEST_TMP/small"
done
run 18 97 lower_grad --exec --lanes=0
run 18 97 lower_grad --lanes=4 --fp=fast --machine="$FSMC_TEST_TMP/small" --threads=2
# Matrices that are too small for tiles: blocks of eight vectors, half of one, single ones, and a part; rows by four, two, and one.
fsmc --fp=fast --lanes=8 --machine="$FSMC_TEST_TMP/many" --entry=lower_grad --explain=schedule --emit=loops -o /dev/null tile.fsm 2>&1 |
    grep -oE '[0-9]+ vectors at a time|[0-9]+ iterations( of those that are left)? share' | sort | uniq -c
for sizes in '3 33' '6 64' '7 131' '10 109' '15 65'; do
    set -- $sizes
    for how in '--exec --lanes=8 --fp=fast' --exec\ --lanes=8 --exec\ --lanes=0; do run $1 $2 lower_grad $how --machine="$FSMC_TEST_TMP/many"; done | uniq -c | tr -s ' '
done
