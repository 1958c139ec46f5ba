# A loop tree with all statements and marks is printed as it reads; with places, too; and trees run like the programs they come from.
out=$FSMC_TEST_TMP/again.tree
fsmc --emit=tree tree_text.tree | diff tree_text.tree -
fsmc -g --emit=tree -o "$out" tree_text.tree && fsmc -g --emit=tree "$out" | diff "$out" -
marks=$(sed -n 's/^MARK([A-Z]*, *\([a-z_]*\),.*/\1/p' ../../src/lower/tree_marks.def)
for mark in $marks; do grep -q "#$mark\b" tree_text.tree || echo "no #$mark"; done

cat >"$FSMC_TEST_TMP/p.fsm" <<'END'
entry f (x: Double[n]) (k: Int) : Double[n] = build n (fun i -> x[k] * x[i] + sum n (fun j -> x[j] / x[i]))
END
cd "$FSMC_TEST_TMP" || exit 1
for how in -O0 "-O2 --fp=fast" "-O3 --threads=2"; do
    fsmc --emit=tree $how -o p.tree p.fsm
    for run in "run --exec" run cost; do
        for k in 1 7; do
            case $run in cost) how2=--exec ;; *) how2= ;; esac
            want=$(fsmc $run $how2 $how p.fsm f 'x=[1, 2, 4]' k=$k 2>&1) got=$(fsmc $run $how2 $how p.tree f 'x=[1, 2, 4]' k=$k 2>&1)
            [ "$want" = "$got" ] || echo "$how, $run: $want, but the tree gives $got"
        done
    done
    fsmc --emit=llvm $how p.fsm | sed 1,2d >a.ll # without its name
    fsmc --emit=llvm $how p.tree | sed 1,2d | diff a.ll - >/dev/null || echo "$how: other LLVM IR"
done
fsmc run p.tree f 'x=[1, 2, 4]' k=1
fsmc run p.tree f 'x=[1, 2, 4]' k=7 2>&1
awk '/^sizes/ { exit } { print }' p.tree >q.tree # without sizes
fsmc run q.tree f 'x=[1, 2, 4]' k=1
