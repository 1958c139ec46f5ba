# What is in blocks, and the same values for whole and broken panels and parts of sums, with any vectors, and with threads.
for e in product product_grad turned floats computed apart roots gram itself unlike weighted gram_grad terms added layer wished short ranges; do
    for fp in fast precise; do
        echo "$e, $fp: $(fsmc --fp=$fp --lanes=4 --entry=$e --emit=loops -o - contract.fsm | sed '/^} otherwise/q' | grep -cE '^ *outer for .* < .*') loops around blocks"
    done
done
fsmc --lanes=4 --entry=turned --emit=loops -o - contract.fsm | sed -n '/outer for/,/few for/p' | sed 's/_[0-9]*//g; s/\bt[0-9][0-9]*\b/t/g'
fsmc --lanes=4 --entry=product --explain=schedule --emit=loops -o - contract.fsm 2>&1 >"$FSMC_TEST_TMP/loops" | grep blocks | head -1
fsmc --lanes=4 --entry=itself --emit=loops -o - contract.fsm | sed -n '/^    }/,/^  } else/p' | sed 's/_[0-9]*//g; s/\bt[0-9][0-9]*\b/t/g'
# What is computed from sums is stored with the last of them, not by other loops.
for e in added layer; do echo "$e: $(fsmc --lanes=4 --entry=$e --emit=loops -o - contract.fsm | sed '/^  } else/q' | grep -cE '^    for ') loops beside blocks"; done
# Whole numbers, so that sums are the same in any order.
value() { awk -v n=$1 -v m=$2 -v s=$3 'BEGIN { for (i = 0; i < n; i++) { printf i ? ",[" : "[["; for (j = 0; j < m; j++) printf "%s%d", j ? "," : "", (7 * i + 3 * j + s) % 11 - 5; printf "]" } print "]" }'; }
# What is tried, and what with many threads: a file for each entry, with a line for each call.
mkdir "$FSMC_TEST_TMP/try" "$FSMC_TEST_TMP/many"
call() { # FOLDER ENTRY ARG...
    file=$FSMC_TEST_TMP/$1/$2 line=
    shift 2
    for arg; do line="$line${line:+, }\"${arg%%=*}\": ${arg#*=}"; done
    echo "{$line}" >>"$file"
}
try() { call try "$@"; }
many() { call many "$@"; }
printf 'cache 8192\nregisters 10\n' >"$FSMC_TEST_TMP/small"
a=$(value 67 70 1) b=$(value 70 61 2) dy=$(value 67 61 3)
try product "a=$a" "b=$b"
try product_grad "a=$a" "b=$b" "dy=$dy"
try turned "a=$(value 70 67 4)" "b=$(value 61 70 5)"
try floats "a=$a" "b=$b"
try computed "a=$a" "b=$b"
try apart "x=$a" "y=$(value 61 70 5)"
try added "c=$dy" "a=$a" "b=$b"
try layer "c=[$(seq 61 | paste -sd,)]" "a=$a" "b=$b"
try added "c=$dy" "a=$(value 67 530 1)" "b=$(value 530 61 2)"
try layer "c=[$(seq 40 | paste -sd,)]" "a=$(value 25 530 1)" "b=$(value 530 40 2)"
# Many k of few rows and columns: threads take parts of them, groups of panels otherwise.
many deep n=2049 m=25 k=26
many deep_gram n=2051 m=25
many layer "c=[$(seq 90 | paste -sd,)]" "a=$(value 150 97 1)" "b=$(value 97 90 2)"
many product "a=$(value 150 97 1)" "b=$(value 97 90 2)"
many product "a=$(value 50 97 1)" "b=$(value 97 300 2)"
many gram "a=$(value 97 131 1)"
many turned "a=$(value 70 300 4)" "b=$(value 61 70 5)"
try product "a=$(value 25 290 1)" "b=$(value 290 31 2)"
try product "a=$(value 24 24 1)" "b=$(value 24 300 2)"
try product_grad "a=$(value 72 64 1)" "b=$(value 64 48 2)" "dy=$(value 72 48 3)"
for n in 24 61 70; do
    try gram "a=$(value 66 $n 1)"
    for e in itself unlike; do try $e "x=$(value $n 65 1)"; done
done
try gram_grad "a=$a" "dy=$(value 70 70 2)"
try terms "a=$a" "b=$b" "c=$(value 67 70 6)" "d=$(value 70 61 3)"
try weighted "x=$(value 63 65 1)" "w=[$(seq 63 | paste -sd,)]"
try roots "a=$(awk 'BEGIN { for (i = 0; i < 66; i++) { printf i ? ",[" : "[["; for (j = 0; j < 64; j++) printf "%s%d", j ? "," : "", i < 65 ? j % 2 : -1; printf "]" } print "]" }')" "b=$(value 64 63 2)"
calls() { # ENTRY FOLDER OPTION...: the results
    entry=$1 file=$FSMC_TEST_TMP/$2/$1
    shift 2
    fsmc run "$@" contract.fsm $entry --calls="$file"
}
for e in $(ls "$FSMC_TEST_TMP/try"); do
    calls $e try --interp >"$FSMC_TEST_TMP/want"
    for how in --exec+--lanes=2 --lanes=4+--fp=fast --exec+--lanes=8 --exec+--lanes=4+--threads=2 --exec+--lanes=4+--machine=$FSMC_TEST_TMP/small; do
        calls $e try -O2 $(echo $how | tr + ' ') | cmp -s - "$FSMC_TEST_TMP/want" || echo "$how $e: not as interpreted"
    done
done
for e in $(ls "$FSMC_TEST_TMP/many"); do
    calls $e many --interp >"$FSMC_TEST_TMP/want"
    calls $e many -O2 --fp=fast --threads=3 | cmp -s - "$FSMC_TEST_TMP/want" || echo "3 threads, $e: not as interpreted"
done
wc -l "$FSMC_TEST_TMP"/try/* "$FSMC_TEST_TMP"/many/* | tail -1 | tr -s ' '
