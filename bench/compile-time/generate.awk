# Programs of a size: awk -v kind=straight -v n=500 -v derivative=1 -f generate.awk
# n statements, each of one or two of the eight before it. kind: straight (arithmetic), branchy (two of three are an if),
# partial (the same, with reads in some arms that may fail), nests (two of three are a sum of sums or a sequential loop).
# derivative=1: the entry is the gradient.
function pick(from) { seed = (seed * 1103515 + 12345) % 2147483; return from - 1 - seed % (from < 8 ? from : 8) }
function straight(k) {
    a = "v" pick(k); b = "v" pick(k)
    if (k % 4 == 0) return "sin " a " + 0.5 * " b
    if (k % 4 == 1) return a " * x[" k % 10 "] + " b
    if (k % 4 == 2) return a " / (1.0 + " b " * " b ")"
    return "0.3 * " a " - " b " * x[" (k * 7) % 10 "]"
}
function branchy(k, read) {
    a = "v" pick(k); b = "v" pick(k)
    if (k % 3 == 0) return "if " a " > 0.1 then sin " b " else 0.5 * " a
    if (k % 3 == 1) return "if " a " < " b " then " a " * x[" k % 10 "] else if " b " > 0.0 then x[" read "] * " b " else " a
    return "0.3 * " a " - " b " * x[" (k * 7) % 10 "]"
}
function nests(k) {
    a = "v" pick(k); b = "v" pick(k)
    if (k % 3 == 0) return "sum m (fun i -> sum m (fun j -> sin (x[i] * " a ") * x[j])) / double (m * m)"
    if (k % 3 == 1) return "ifold (fun s i -> s * 0.5 + x[i] * " b ") " a " m"
    return "0.3 * " a " - " b " * sum m (fun i -> x[i] * x[i]) / double m"
}
function statement(k) {
    if (kind == "straight") return straight(k)
    if (kind == "branchy") return branchy(k, (k * 3) % 10)
    if (kind == "partial") return branchy(k, "at + " k % 10)
    return nests(k)
}
BEGIN {
    seed = 7
    size = kind == "nests" ? "m" : "10"
    printf "let f (x: Double[%s]) (at: Int) : Double =\n  let v0 = %s\n", size, kind == "nests" ? "sum m (fun i -> x[i])" : "x[0]"
    for (k = 1; k <= n; k++) printf "  let v%d = %s\n", k, statement(k)
    printf "  v%d", n
    for (k = n - 1; k >= 0 && k > n - 8; k--) printf " + v%d", k
    type = derivative ? "Double[" size "]" : "Double"
    printf "\nentry %s (x: Double[%s]) (at: Int) : %s = %s\n", derivative ? "g" : "p", size, type, derivative ? "grad (fun x -> f x at) x" : "f x at"
}
