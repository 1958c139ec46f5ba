for e in blocks wide region either; do
    echo "$e: $(fsmc --emit=loops --lanes=0 --entry=$e tiles.fsm | grep -c 'out of range\|cannot have') checks of indices"
    fsmc --emit=loops --lanes=0 --entry=$e tiles.fsm | sed '/otherwise/q' | grep -E '^ *(for|loops|if|copy|new)' | sed 's/_[0-9]*//g; s/\bt[0-9][0-9]*\b/t/g'
done
for n in 1 3 7 8 15 16 17 33; do
    x="[$(seq $n | paste -sd,)]"
    m=$(awk -v n=$n 'BEGIN { for (i = 0; i < n; i++) { printf i ? ",[" : "[["; for (j = 0; j < n; j++) printf "%s%d", j ? "," : "", i - j; printf "]" } print "]" }')
    for e in blocks wide either; do [ "$(fsmc run tiles.fsm $e "x=$x")" = "$(fsmc run --interp tiles.fsm $e "x=$x")" ] || echo "$e, $n: not as interpreted"; done
    [ "$(fsmc run tiles.fsm region "x=$m" steps=2)" = "$(fsmc run --interp tiles.fsm region "x=$m" steps=2)" ] || echo "region, $n: not as interpreted"
done
