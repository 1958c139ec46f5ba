# Programs of 4, 8 and 16 stages, each of which needs the one before it: as many lines of loops for each stage more, in
# values, gradients and products of Hessians with vectors.
program() { # KIND STAGES
    awk -v kind="$1" -v n="$2" 'BEGIN {
        type = kind == "products" ? "Double[m][m]" : "Double[m]"
        print "let f (x: " type ") ="
        print kind == "lets" || kind == "products" ? "  let s0 = x" : "  let s0 = sum (length x) (fun i -> x[i])"
        for (k = 0; k < n; k++) {
            s = "s" k; c = k + 2 ".0"
            if (kind == "lets") e = "build (length x) (fun i -> sin " s "[i] * x[i] + " s "[(i + " k ") % length x])"
            if (kind == "whiles") e = "loop (s = " s ") while s * s > " c " do 0.5 * s + 0.1 * sin s"
            if (kind == "fors") e = "loop (s = " s ") for i < length x do sin (s * x[i]) + s / " c
            if (kind == "branches")
                e = "if " s " > " c " then sin " s " * sum (length x) (fun i -> x[i] * " s ") else cos " s " + " c
            if (kind == "products")
                e = "build (length x) (fun i -> build (length x) (fun j -> tanh (sum (length x) (fun l -> " s "[i][l] * x[l][j]))))"
            print "  let s" k + 1 " = " e
        }
        s = "s" n
        print kind == "lets" ? "  sum (length x) (fun i -> " s "[i])" \
            : kind == "products" ? "  sum (length x) (fun i -> sum (length x) (fun j -> " s "[i][j]))" : "  " s
        print "entry value (x: " type ") : Double = f x"
        print "entry slope (x: " type ") : " type " = grad f x"
        print "entry turn (x: " type ") (w: " type ") : " type " = jvp (fun x -> grad f x) x w"
    }'
}
lines() { program "$1" "$3" | fsmc --entry="$2" --fp=fast --emit=loops - -o - | wc -l; }
# What is written out of the first few stages is less than of others, and long programs have procedures.
for kind in lets whiles fors branches products; do
    for entry in value slope turn; do
        few=$(lines $kind $entry 4) more=$(lines $kind $entry 8) most=$(lines $kind $entry 16)
        [ $(((most - more) * 10)) -le $(((more - few) * 21)) ] || [ $((most * 10)) -le $((more * 21)) ] ||
            echo "$kind, $entry: $few, $more, $most lines"
    done
    echo "$kind: linear"
done
