# Which loops have the lanes, and the columns that wait for them; and the same values with rows, columns and points that fill no vectors.
echo "registers 32" >"$FSMC_TEST_TMP/many"
echo "cache 1024" >"$FSMC_TEST_TMP/small"
entries="plain floats lower bent kept again"
for e in $entries; do
    echo "$e:"
    fsmc --fp=fast --lanes=4 --entry=${e}_grad --emit=loops -o - tile_products.fsm | sed '/^} otherwise/q' |
        grep -E '^ *((outer|(blocks of )?lanes) for|new .*, [48]\]$)' | sed 's/_*[0-9]* [<=] .*//; s/ b[0-9]*:/:/; s/\[t[0-9]*/[t/'
done
row() { awk -v n="$1" -v s="$2" 'BEGIN { for (i = 0; i < n; i++) printf "%s%.3f", i ? "," : "[", 0.3 * sin(s + 3 * i); print "]" }'; }
rows() { for i in $(seq $1); do row $2 $i; done | paste -sd, | sed 's/.*/[&]/'; }
numbers() { fsmc run "$@" tile_products.fsm ${e}_grad "q=$q" "m=$m" "x=$x" | tr -s '][, ' '\n'; }
same() { # E D N OPTION...: are results those of loops without lanes?
    q="[$(rows $1 $2),$(rows $1 $2),$(rows $1 $2)]" m=$(rows 3 $2) x=$(rows $3 $2)
    shift 3
    numbers --exec --lanes=0 >"$FSMC_TEST_TMP/expected"
    numbers "$@" | paste "$FSMC_TEST_TMP/expected" - | awk -v name=$e 'BEGIN { most = name == "floats" ? 1e-4 : 1e-10 }
        $1 != "" { n++; size = $1 < 0 ? -$1 : $1; off = $1 - $2; if (off < 0) off = -off; if (!(off < most * (1 + size))) bad++ }
        END { print name, n, bad ? bad " differ" : "are the same" }'
}
for e in $entries; do
    rows=17
    case $e in lower | kept) rows=18 ;; esac
    same $rows 18 97 --lanes=2 --target-cpu=baseline
    same 21 21 50 --lanes=4 --machine="$FSMC_TEST_TMP/many"
    same $((rows + 13)) 31 49 --exec --lanes=8 --machine="$FSMC_TEST_TMP/small"
done
e=plain
same 6 43 111 --lanes=4 --fp=fast --threads=2
