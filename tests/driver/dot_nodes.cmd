# Every edge joins nodes that have labels, whose numbers are given once; every cluster is closed.
for file in "$FSMC_ROOT"/examples/*.fsm "$FSMC_ROOT"/tests/papers/*.fsm "$FSMC_ROOT"/tests/ad/f*.fsm; do
    fsmc --emit=dot "$file" -o "$FSMC_TEST_TMP/a.dot" || { echo "$file fails"; continue; }
    awk -v file="$file" '
        /^digraph/ { split("", node); depth = 0 }
        /{$/ { depth++ }
        /^ *}$/ { depth-- }
        /^ *n[0-9]+ \[.*label=/ { if ($1 in node) print file ": twice: " $0; node[$1]; nodes++ }
        /->/ { to = $3; sub(/;.*/, "", to); if (!($1 in node) || !(to in node)) print file ": no node: " $0 }
        depth < 0 { print file ": closed too often" }
        END { if (depth || !nodes) print file ": " depth " open, " nodes " nodes" }' "$FSMC_TEST_TMP/a.dot"
done
echo done
