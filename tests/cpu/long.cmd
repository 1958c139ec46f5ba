# Functions so long that they are divided, also inside of a loop: compiled code gives what the interpreter of loop trees does.
. ./engines.sh
p=$FSMC_TEST_TMP/p.fsm engines=-O2
compare() { # ARGUMENT...
    want=$(fsmc run -Wno-unused-let --exec "$p" "$@" 2>&1 | rounded)
    parts=$(fsmc -O0 -Wno-unused-let --emit=llvm "$p" -o - | grep -c '^define.*\.body\.[0-9]')
    echo "$kind $derivative $1: $([ "$parts" -gt 2 ] && echo divided)"
    for how in $engines; do
        got=$(fsmc run -Wno-unused-let $how "$p" "$@" 2>&1 | rounded)
        [ "$got" = "$want" ] || echo "    $how: $got instead of $want"
    done
}
x=0.31,-0.2,0.11,0.7,-0.43,0.05,0.6,-0.09,0.21,0.33
generate() { awk -v kind=$kind -v n=$1 -v derivative=$derivative -f "$FSMC_ROOT/bench/compile-time/generate.awk" > "$p"; }
for derivative in 0 1; do
    entry=p
    [ $derivative = 1 ] && entry=g
    for program in straight,1500 branchy,500 nests,550; do
        kind=${program%,*}
        generate ${program#*,}
        compare $entry "x=[$x]" at=3
    done
    kind=partial
    generate $((100 - 60 * derivative))
    compare $entry "x=[$x]" at=3
    compare $entry "x=[$x]" at=9
done
kind=branchy derivative=2 engines='-O0 -O1 -g'
generate 250
sed -i '/^entry/d' "$p"
echo 'entry h (x: Double[10]) : Double[10] = grad (fun x -> sum 3 (fun i -> f (build 10 (fun k -> x[k] + 0.1 * double i)) 0)) x' >> "$p"
compare h "x=[$x]"
