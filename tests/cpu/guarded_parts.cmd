# Four times as many elements are four times as much work; before, the gradient took all elements for each.
for n in 64 256; do
    v=$(awk -v n=$n 'BEGIN { for (i = 0; i < n; i++) printf "%s%g", i ? ", " : "[", i % 7 - 2; print "]" }')
    for call in 'value parts=8' 'gradient parts=8' eighths; do fsmc cost guarded_parts.fsm $call v="$v"; done
done
fsmc run guarded_parts.fsm gradient parts=3 'v=[3, 4, 0, 0, 5, 12, 1]'
fsmc run guarded_parts.fsm gradient parts=0 'v=[3, 4]'
