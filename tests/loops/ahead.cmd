# Loops in strips, parts of arrays, and what is kept of all steps: two arrays of n numbers, not five. Then what stays as it is.
for e in value byWeights byInputs epochs first pair batch short some each; do
    fsmc --emit=loops -O1 --fp=fast --entry=$e ahead.fsm >"$FSMC_TEST_TMP/loops"
    echo "$e: $(grep -cE '^ *for strip' "$FSMC_TEST_TMP/loops") loops, $(grep -cE '^ *for part' "$FSMC_TEST_TMP/loops") of parts"
done
fsmc --emit=loops -O1 --fp=fast --disable-pass=checkpoint --entry=byWeights ahead.fsm | grep -oE 'new b[0-9]*: f64\[[^]]*, n\]' | sed -E 's/b[0-9]+/b/; s/t_?[0-9]+/./' | sort | uniq -c
fsmc --emit=loops -O1 --fp=fast --disable-pass=checkpoint --disable-pass=ahead --entry=byWeights ahead.fsm | grep -cE 'new b[0-9]*: f64\[[^]]*, n\]'
fsmc --emit=loops --fp=fast --entry=value --explain=loops ahead.fsm -o "$FSMC_TEST_TMP/loops" 2>&1 | grep ahead:
numbers() { awk -v extents="$*" 'function show(k, i, s) {
        if (k > rank) return (at++ * 7 % 23 - 11) / 64
        for (i = 0; i < n[k]; i++) s = s (i ? "," : "") show(k + 1)
        return "[" s "]"
    }
    BEGIN { rank = split(extents, n, " "); print show(1) }'; }
sums() { tr -d '[] ' | tr ',' '\n' | awk '{ s += $1 * (NR % 9 + 1) } END { printf "%.9g\n", s }'; }
# A strip and a step, one strip, none; and with blocks of matrices.
for sizes in '3 2 129' '2 3 128' '2 2 0' '17 16 131'; do
    set -- $sizes
    n=$1 m=$2 t=$3
    given="w=$(numbers 3 $n $m) u=$(numbers 3 $n $n) b=$(numbers 3 $n) xs=$(numbers $t $m) n=$n m=$m t=$t"
    [ $t = 0 ] || given=${given% n=*}
    for e in value byWeights byInputs 'epochs steps=2'; do
        want=$(fsmc run --interp ahead.fsm ${e% *} $given ${e#"${e% *}"} | sums)
        echo "$e n=$n m=$m t=$t: $want"
        [ $t != 131 ] || jit=--fp=fast
        for how in '--exec --fp=fast' $jit '--exec --tape-limit=20K'; do
            got=$(fsmc run $how ahead.fsm ${e% *} $given ${e#"${e% *}"} | sums)
            [ "$got" = "$want" ] || echo "$how: $got"
        done
    done
done
