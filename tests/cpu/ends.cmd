# Statements of derivatives through loops in branches, of loops that end: the third derivative had eight times as many as the
# second, since what may not end has a branch around each of its uses.
for entry in second third; do
    n=$(fsmc --emit=loops --entry=$entry ends.fsm -o - | wc -l)
    [ "$n" -le 5000 ] && echo "$entry: at most 5000" || echo "$entry: $n"
    fsmc run ends.fsm $entry x=0.7 n=5
done
