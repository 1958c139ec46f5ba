# Graphviz reads the graphs of all programs there are, and finds no edge from or to a value that has no node.
command -v dot >/dev/null || { echo "there is no dot (Debian: graphviz)"; exit 77; }
for file in "$FSMC_ROOT"/examples/*.fsm "$FSMC_ROOT"/tests/papers/*.fsm; do
    fsmc --emit=dot "$file" -o "$FSMC_TEST_TMP/a.dot" || continue
    dot -Tcanon "$FSMC_TEST_TMP/a.dot" >/dev/null || echo "$file"
done
