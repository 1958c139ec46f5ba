# What entries do at most (--explain=cost): exact where extents are polynomials, else bounds.
cd "$FSMC_TEST_TMP" || exit 1
cat >costs.fsm <<'F'
let halvings x = whileLoop (fun y -> y > 1) (fun y -> y / 2) x
let band x = let n = length x in sum n (fun i -> sum n (fun j -> [abs (i - j) <= 1] * x[i] * sin x[j]))
entry triangle (x: Double[n]) = sum n (fun i -> sum i (fun j -> sin (x[i] * x[j])))
entry window (x: Double[n]) = build n (fun i -> sum (min n (i + 2) - max 0 (i - 1)) (fun j -> x[max 0 (i - 1) + j]))
entry repeated (x: Double) = halvings x
entry repeated_slope (x: Double) = grad halvings x
entry rows (start: Int[n]) (x: Double[m]) = sum (n - 1) (fun i -> sum (start[i + 1] - start[i]) (fun k -> sin x[start[i] + k]))
entry elements (i: Int[m]) (x: Double[m]) = hist (+) 0.0 4 i x
entry quotient (k: Card) (x: Double[n]) = sum k (fun i -> sum (n / k) (fun j -> x[i * (n / k) + j]))
entry steps (n: Int) (x: Double) = ifold (fun s i -> sin s) x n
entry one (x: Double[n]) = x[0] * x[0]
entry dense (x: Double[n]) = jacobian (fun x -> build n (fun i -> sin (x[i] * x[0]))) x
entry sparse (x: Double[n]) = jacobianSparse (fun x -> build n (fun i -> sin x[i])) x
entry backwards (x: Double[n]) = jacrev (fun x -> let s = sum n (fun i -> sin x[i]) in [| s; cos s |]) x
entry both (x: Double[n]) = valueAndGrad (fun x -> sqnorm (map sin x)) x
entry forwards (x: Double[n]) = jvp (fun x -> map sin x) x x
entry curve (x: Double[n]) = hvp (fun x -> sqnorm (map sin x)) x x
F
fsmc check -Wcost --explain=cost costs.fsm
fsmc check -Wcost costs.fsm && echo 'nothing to warn of'
# Of loop trees, and of values, it can be said as well.
printf 'entry f (x: Double[n]) = sum n (fun i -> sin x[i])\n' >plain.fsm
fsmc plain.fsm --emit=ir,tree -o plain.o && fsmc check --explain=cost plain.ir && fsmc check --explain=cost plain.tree
