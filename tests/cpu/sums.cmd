# Lengths on both sides of what is large; rows of 8 k + 3 and 8 k + 7; points that are no multiple of lanes. At the end, how many
# loops take several sums at once, and from how many elements on: where lanes have no copies of their own. Rows that are known to
# be short take one.
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
same narrow "x=$(rows 45 24)" "q=$(rows 350 24)"
loops() { fsmc --lanes=$1 --emit=loops -o - --entry=$2 sums.fsm | sed '/^} otherwise/q'; }
for e in triangle square vector; do loops 8 $e | grep -cE '/ [48]$'; done
for l in 4 8; do loops $l square | grep -oE '= (8192|16384) <'; done
loops 4 narrow | grep -cE '= (8192|16384) <' || true
