# sh growth.sh SIZES KIND...
# What the compiler makes of generated programs (bench/compile-time/generate.awk) and of their gradients, in statements of the
# loop tree, may grow as the program does, and by 15 % more.
sizes=$1
shift
for kind; do
    for derivative in 0 1; do
        for n in $sizes; do
            p=$FSMC_TEST_TMP/p.fsm
            awk -v kind="$kind" -v n="$n" -v derivative=$derivative -f "$FSMC_ROOT/bench/compile-time/generate.awk" > "$p"
            echo "$kind $derivative $n $(fsmc -Wno-unused-let --emit=loops "$p" -o - | wc -l)"
        done
    done
done | awk '
    {
        key = $1 ($2 ? ", gradient" : "")
        if ($4 < $3) { print key ": no code for " $3; bad = 1 }
        if (key == last && $4 / before > 1.15 * $3 / size) { print key ": " before " to " $4 " from " size " to " $3; bad = 1 }
        last = key
        size = $3
        before = $4
    }
    END { if (!NR) exit 1; if (!bad) print "in proportion" }'
