# sh growth.sh SIZES KIND...
# What the compiler makes of generated programs (bench/compile-time/generate.awk) and of their gradients: statements of the
# loop tree as it is optimised, and lines of LLVM IR as it is not. They may grow as the program does, and by 15 % more.
sizes=$1
shift
for kind; do
    for derivative in 0 1; do
        for n in $sizes; do
            p=$FSMC_TEST_TMP/p.fsm
            awk -v kind="$kind" -v n="$n" -v derivative=$derivative -f "$FSMC_ROOT/bench/compile-time/generate.awk" > "$p"
            loops=$(fsmc -Wno-unused-let --emit=loops "$p" -o - | wc -l)
            llvm=$(fsmc -Wno-unused-let -O0 --emit=llvm "$p" -o - | wc -l)
            echo "$kind $derivative $n $loops $llvm"
        done
    done
done | awk '
    {
        key = $1 ($2 ? ", gradient" : "")
        if (key == last)
            for (i = 4; i <= 5; i++)
                if ($i > 1.15 * before[i] * $3 / before[3]) { print key ": " before[i] " to " $i " from " before[3] " to " $3; bad = 1 }
        if ($4 < $3 || $5 < $3) { print key ": no code"; bad = 1 }
        for (i = 3; i <= 5; i++) before[i] = $i
        last = key
    }
    END { if (!NR) exit 1; if (!bad) print "in proportion" }'
