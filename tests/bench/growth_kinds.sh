# sh growth_kinds.sh COPIES KIND... [-- "KIND ENTRY LINES EXPONENT"...]
# Lines of values (IR) and of loop trees (tree) of programs of copies (bench/growth), and of their derivatives, may grow
# by an exponent of at most 1.1. After -- stands what is known to grow faster, and is to be mended: it may not grow
# faster still, and must be struck when it no longer does.
copies=$1
shift
kinds= && while [ $# -gt 0 ] && [ "$1" != -- ]; do kinds="$kinds $1" && shift; done
for line; do [ "$line" = -- ] || echo "known $line"; done > "$FSMC_TEST_TMP/known"
cd "$FSMC_TEST_TMP" || exit
FSMC=fsmc sh "$FSMC_ROOT/bench/growth/measure.sh" 0 "$copies" 100 $kinds > table 2> errors || cat errors
awk -v kinds="$kinds" -v most="${copies##* }" '
    function look(what, exponent, now) {
        seen[now = $1 " " $2 " " what] = 1
        sub(/[!+]/, "", exponent)
        if (exponent !~ /^[0-9]/) print now ": not counted (" $0 ")"
        else if (!(now in known) && exponent > 1.1) print now ": grows by an exponent of " exponent
        else if (!(now in known)) good++
        else if (exponent > known[now] + 0.005) print now ": exponent " exponent ", more than the " known[now] " known"
        else if (exponent <= 1.1) print now ": no longer grows faster (" exponent "): strike it from those known"
        else print now ": known to grow by an exponent of " known[now]
    }
    $1 == "known" { known[$2 " " $3 " " $4] = $5; next }
    FNR < 3 { next }
    /copies\)$/ || $3 < most || $5 < most { print "no code for " most ": " $0; next }
    { look("IR", $4); look("tree", $6) }
    END {
        n = split(kinds, kind, " ")
        split("value gradient hvp", entry, " ")
        for (i = 1; i <= n; i++)
            for (j = 1; j <= 3; j++)
                if (!((kind[i] " " entry[j] " tree") in seen)) print kind[i] " " entry[j] ": not there"
        for (k in known) if (!(k in seen)) print k ": known of no program"
        print good + 0 " in proportion"
    }' known table
