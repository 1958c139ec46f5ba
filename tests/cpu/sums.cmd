# Lengths on both sides of what is large; rows of 8 k + 3 and 8 k + 7; points that are no multiple of lanes. At the end, how many
# loops take several sums at once.
. ./engines.sh
row() { awk -v n="$1" -v s="$2" 'BEGIN { for (i = 0; i < n; i++) printf "%s%.3f", i ? "," : "[", sin(s + 3 * i); print "]" }'; }
rows() { for i in $(seq $1); do row $2 $i; done | paste -sd, | sed 's/.*/[&]/'; }
same() {
    want=$(fsmc run --exec sums.fsm "$@" | rounded)
    echo "$1: $want"
    for how in --lanes=2 --lanes=4 '--lanes=8 --fp=fast'; do
        got=$(fsmc run $how sums.fsm "$@" | rounded)
        [ "$got" = "$want" ] || echo "    $how: $got"
    done
}
for d in 7 91 95; do
    same triangle "x=$(rows 45 $d)" "q=$(rows $d $d)"
    same square "x=$(rows 32 $d)" "q=$(rows $d $d)"
done
same vector "x=$(row 45 0.1)" "w=$(row 8197 0.2)"
for e in triangle square vector; do fsmc --lanes=8 --emit=loops -o - --entry=$e sums.fsm | sed '/^} otherwise/q' | grep -cE '/ [48]$'; done
