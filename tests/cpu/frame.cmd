# In the version for sizes of 0, what all calls of a procedure give it is in a frame: what calls pass would grow with the
# square of the program. Four times as many blocks of attention are at most 4.4 times as much text of that version.
. ./engines.sh
chain() { # of so many blocks
    awk -v n="$1" 'BEGIN {
        print "let block w x =\n  let s = map (fun r -> softmax (map (fun y -> dot r y) x)) x"
        print "  build (length x) (fun i -> build (length w) (fun c -> tanh (dot w[c] (matMul s x)[i])))"
        printf "entry f (x: Double[t][d])"
        for (i = 1; i <= n; i++) printf " (w%d: Double[d][d])", i
        start = "map (fun r -> map (fun v -> v * s) r) x"
        for (i = n; i; i--) start = "block w" i " (" start ")"
        print " = grad (fun s -> sum t (fun i -> sqnorm (" start ")[i])) 1.0"
    }' >"$FSMC_TEST_TMP/$1.fsm"
}
for n in 2 4 16; do chain $n; done
text() {
    fsmc -O1 --target-cpu=x86-64-v3 --emit=llvm -o - "$FSMC_TEST_TMP/$1.fsm" |
        awk '/^define/ { cold = /empty/ } cold { n += length($0) } END { print n }'
}
few=$(text 4) many=$(text 16)
[ "$few" -gt 100000 ] || echo "the version for sizes of 0 is $few bytes of text"
[ $((many * 10)) -lt $((few * 44)) ] || echo "$many bytes of text for 16 blocks, $few for 4"
# The values are those of the interpreter, for sizes of 0 and others; with one size, it is known to be 0.
run() {
    want=$(printf %s "$3" | fsmc run --interp "$FSMC_TEST_TMP/$1.fsm" "$2" | rounded)
    echo "$2 $3: $want"
    for how in --exec -O0 -O1 -O2; do
        got=$(printf %s "$3" | fsmc run $how "$FSMC_TEST_TMP/$1.fsm" "$2" 2>&1 | rounded)
        [ "$got" = "$want" ] || echo "    $how: $got"
    done
}
cat >"$FSMC_TEST_TMP/one.fsm" <<'end'
let step x = map (fun v -> v / x[length x / 2] + sum (length x) (fun i -> x[i] * x[length x - 1 - i])) x
let many x = step (step (step (step (step (step x)))))
entry sums (x: Double[n]) = (sum n (fun i -> (many x)[i]), grad (fun x -> sum n (fun i -> (many x)[i])) x)
entry total (x: Double[n]) = if n > 3 then (many x)[3] else 7.0
end
run 2 f '{"x": [], "w1": [], "w2": [], "t": 0, "d": 0}'
run 2 f '{"x": [[], []], "w1": [], "w2": [], "t": 2, "d": 0}'
run 2 f '{"x": [], "w1": [[1]], "w2": [[0.5]], "t": 0, "d": 1}'
run 2 f '{"x": [[1], [2]], "w1": [[1]], "w2": [[0.5]]}'
run one sums '{"x": []}'
run one sums '{"x": [1.5, 2]}'
run one total '{"x": []}'
