# Results in every way, and how many stores of vectors there are.
. ./engines.sh
list() { awk -v extents="$*" 'function show(k, i) { if (k > rank) { printf "%.3f", (at++ * 7 % 31 - 12) / 8; return } printf "["; for (i = 0; i < n[k]; i++) { if (i) printf ","; show(k + 1) } printf "]" } BEGIN { rank = split(extents, n, " "); show(1) }'; }
all() {
    check packs.fsm "$@"
    for how in '--lanes=4 --target-cpu=x86-64-v3' '--lanes=8' '--lanes=4 --target-cpu=baseline'; do
        got=$(fsmc run -O2 $how packs.fsm "$@" 2>&1 | rounded)
        [ "$got" = "$want" ] || echo "    $how: $got"
    done
}
all products "a=$(list 3 4 4)" "b=$(list 3 4 4)"
all productsGradient "a=$(list 3 4 4)" "b=$(list 3 4 4)" "dy=$(list 3 4 4)"
all small "a=$(list 2 3 3)" "b=$(list 2 3 3)"
all rows "a=$(list 2 4 4)" "x=$(list 2 4)"
all floats "a=$(list 2 4 4)" "b=$(list 2 4 4)"
for e in other differences; do all $e "a=$(list 3 4)" "b=$(list 3 4)"; done
all one "a=$(list 4 4)" "b=$(list 4 4)"
all powers "a=$(list 4 4)" n=3
echo "chunk 1" >"$FSMC_TEST_TMP/chunk"
threads() { # the same with a chunk for every few iterations
    all "$@"
    got=$(fsmc run -O2 --threads=2 --machine="$FSMC_TEST_TMP/chunk" packs.fsm "$@" 2>&1 | rounded)
    [ "$got" = "$want" ] || echo "    threads: $got"
}
threads byOne "a=$(list 70 4 4)" "c=$(list 4 4)" | cut -c1-100
threads squares "x=$(list 4)" n=300 | cut -c1-100
threads splats "x=$(list 4)" "z=$(list 4)" y=0.5 n=300 | cut -c1-100
# A function so long that it is divided: the values are made in the first part, and stored in the last.
{
    echo "entry f (x: Double[4]) (n: Int) : Double[n][5] ="
    for k in 0 1 2 3; do echo "  let a$k = x[$k] * x[$k]"; done
    echo "  let c0 = x[0]"
    for k in $(seq 1 1500); do echo "  let c$k = sin c$((k - 1))"; done
    echo "  build n (fun i -> [| a0; a1; a2; a3; c1500 |])"
} >"$FSMC_TEST_TMP/long.fsm"
for how in --interp -O2; do fsmc run $how "$FSMC_TEST_TMP/long.fsm" f 'x=[1, 2, 3, 4]' n=2 | rounded; done
for e in products productsGradient one; do
    for cpu in x86-64-v3 x86-64-v4; do
        echo "$e, $cpu: $(fsmc --emit=llvm -O2 --fp=fast --target-cpu=$cpu --entry=$e packs.fsm -o - | grep -oE 'store <[0-9]+ x (double|float)>|load <[0-9]+ x (double|float)>' | sort | uniq -c | tr -s ' \n' ' ')"
    done
done
