# Programs of parts that follow one after the other: awk -v kind=lets -v n=4 -v order=1 -f generate.awk
# n copies of what `kind` says (see the functions of these names), each of which needs the copy before it. order=0: the
# entry is the value, 1: its gradient, 2: the product of its Hessian and a direction.
# A program is a function `p` of a tuple of arrays, by which it is differentiated, and of `rest`, if any.

# list PREFIX FROM TO SEPARATOR: PREFIX's names with numbers.
function list(prefix, from, to, separator, text, i) {
    for (i = from; i <= to; i++) text = text (i > from ? separator : "") prefix i
    return text
}
function line(text) { body = body "  " text "\n" }
# Arrays, each of the two before it: nothing may be computed again wherever it is read.
function lets(k) {
    for (k = 1; k <= 2 * n; k++)
        line("let y" k + 1 " = build n (fun i -> sin (y" k "[i] * x[i]) + " \
            "(if i > 0 then y" k - 1 "[i - 1] else y" k "[n - 1]))")
    body = "  let (y0, y1) = (x, map (fun e -> e * e) x)\n" body
    line("sumOf y" 2 * n + 1)
    names = "x"; types = "Double[n]"
}
# Attention of each row to all, with weights of its own, and what makes mean and variance of a row 0 and 1.
function attention(k) {
    functions = "let normal r =\n  let (m, s) = (mean r, sqrt (variance r + 1e-5))\n  map (fun e -> (e - m) / s) r\n" \
        "let attend (wq, wk, wv) (x: Double[t][d]) =\n  let (q, k, v) = (matMul x wq, matMul x wk, matMul x wv)\n" \
        "  let scores = map (fun r -> softmax (map (fun e -> dot r e / sqrt (double d)) k)) q\n" \
        "  map2 (fun r a -> normal (vectorAdd r a)) x (matMul scores v)\n"
    for (k = 1; k <= n; k++) {
        line("let x" k " = attend w" k " x" k - 1)
        names = names (k > 1 ? ", " : "") "w" k
        types = types (k > 1 ? " " : "") "Double[d][d]*Double[d][d]*Double[d][d]"
    }
    line("sum (length x0) (fun i -> sqnorm x" n "[i])")
    rest = "x0"; restType = "Double[t][d]"
}
# Newton's method for all elements at once, as long as one of them moves.
function whiles(k) {
    for (k = 1; k <= n; k++) {
        line("let (y" k ", _) = loop (y = y" k - 1 ", moved = 1.0) while moved > 1e-12 do")
        line("  let z = build n (fun i -> y[i] - (y[i] * y[i] - x[i] * y" k - 1 "[i] - " k ".5) / (2 * y[i]))")
        line("  (z, sum n (fun i -> (z[i] - y[i]) ** 2))")
    }
    body = "  let y0 = map (fun e -> 1 + e * e) x\n" body
    line("sumOf y" n)
    names = "x"; types = "Double[n]"
}
# Steps of a recurrence of vectors.
function fors(k) {
    for (k = 1; k <= n; k++)
        line("let y" k " = ifold (fun y t -> build n (fun i -> 0.9 * y[i] + sin (x[i] * y[(i + 1) % n]))) y" \
            k - 1 " steps")
    body = "  let y0 = x\n" body
    line("sqnorm y" n)
    names = "x"; types = "Double[n]"; rest = "steps"; restType = "Int"
}
# Stages of a Fourier transform of complex numbers, each of which reads two elements of the one before.
function fft(k) {
    functions = "let times (a, b) (c, d) = (a * c - b * d, a * d + b * c)\n" \
        "let stage half x =\n  build (length x) (fun t ->\n    let j = t % (2 * half)\n" \
        "    let (lower, upper) = (t - j + j % half, t - j + j % half + half)\n" \
        "    let angle = 3.141592653589793 * double (j % half) / double half\n" \
        "    let (a, b) = x[lower]\n    let (c, d) = times (cos angle, -sin angle) x[upper]\n" \
        "    if j < half then (a + c, b + d) else (a - c, b - d))\n"
    for (k = 1; k <= n; k++) line("let y" k " = stage " 2 ^ (k - 1) " " (k > 1 ? "y" k - 1 : "x"))
    line("sum (length x) (fun i -> let (a, b) = y" n "[i] in a * a * b + b * double i)")
    names = "x"; types = "(Double*Double)[n]"
}
# Steps of Runge and Kutta's rule for a pendulum on a spring.
function rk4(k) {
    functions = "let slope (g, s) (x, y, u, v) =\n  let r = sqrt (x * x + y * y + 0.01)\n" \
        "  (u, v, -s * (r - 1) * x / r - 0.1 * u, -s * (r - 1) * y / r - g * exp (-0.1 * y) - 0.1 * v)\n" \
        "let along h (x, y, u, v) (a, b, c, d) = (x + h * a, y + h * b, u + h * c, v + h * d)\n" \
        "let step p h s =\n  let k1 = slope p s\n  let k2 = slope p (along (0.5 * h) s k1)\n" \
        "  let k3 = slope p (along (0.5 * h) s k2)\n  let k4 = slope p (along h s k3)\n" \
        "  along (h / 6) (along (h / 3) (along (h / 3) (along (h / 6) s k1) k2) k3) k4\n"
    for (k = 1; k <= n; k++) line("let s" k " = step (x[0], x[1]) 0.01 s" k - 1)
    body = "  let s0 = (x[2], x[3], x[4], x[5])\n" body
    line("let (a, b, c, d) = s" n)
    line("a * a + b * c * d")
    names = "x"; types = "Double[6]"
}
# Numbers that are an `if` of `if`s, by what the numbers before them are.
function branches(k, a, b) {
    for (k = 1; k <= n; k++) {
        a = "y" k - 1
        b = k > 1 ? "y" k - 2 : "x[0]"
        line("let y" k " =")
        line("  if " a " > x[" k % 5 "] then")
        line("    if " b " * " a " > 0.5 then sin " a " * x[" (k + 1) % 5 "] else " \
            a " + " b " * x[" (k + 2) % 5 "]")
        line("  else")
        line("    if " b " < x[" (k + 3) % 5 "] then exp (-" a " * " a ") else " \
            "(if " a " < -1 then -" b " else " a " * " b ")")
    }
    body = "  let y0 = x[4]\n" body
    line("y" n " * y" n - 1)
    names = "x"; types = "Double[5]"
}
# A chain of products of matrices.
function products(k) {
    for (k = 1; k <= n; k++) line("let y" k " = matMul y" k - 1 " w" k)
    body = "  let y0 = x\n" body
    line("sum (length x) (fun i -> sqnorm y" n "[i])")
    names = list("w", 1, n, ", ")
    for (k = 1; k <= n; k++) types = types (k > 1 ? " " : "") "Double[d][d]"
    rest = "x"; restType = "Double[t][d]"
}
# Steps of a Kalman filter whose measurements are two numbers.
function kalman(k) {
    functions = "let step (f, q, h, r) z (x, c, l) =\n  let y = vectorSub z (matVec h (matVec f x))\n" \
        "  let c = matrixAdd (matMul (matMul f c) (transpose f)) q\n" \
        "  let s = matrixAdd (matMul (matMul h c) (transpose h)) r\n" \
        "  let det = s[0, 0] * s[1, 1] - s[0, 1] * s[1, 0]\n" \
        "  let w = [| [| s[1, 1] / det; -s[0, 1] / det |]; [| -s[1, 0] / det; s[0, 0] / det |] |]\n" \
        "  let g = matMul (matMul c (transpose h)) w\n" \
        "  (vectorAdd (matVec f x) (matVec g y), matrixSub c (matMul (matMul g h) c), l + quadratic y w y + log det)\n"
    for (k = 1; k <= n; k++) line("let s" k " = step (f, q, h, r) z[" k - 1 "] s" k - 1)
    body = "  let s0 = (vectorZeros (length f), eye (length f), 0.0)\n" body
    line("let (_, _, l) = s" n)
    line("l")
    names = "f, q, h, r"; types = "Double[n][n] Double[n][n] Double[2][n] Double[2][2]"
    rest = "z"; restType = "Double[t][2]"
}
# Results that read each other's elements at indices that are data. The gradient is that of their squares.
function outputs(k) {
    for (k = 1; k <= n; k++)
        line("let y" k " = build n (fun i -> sin y" k - 1 "[at[i]] * x" k "[i] + " \
            (k > 1 ? "y" k - 2 "[i]" : "x1[at[i]]") ")")
    body = "  let y0 = x1\n" body
    line("(" list("y", 1, n, ", ") ")")
    names = list("x", 1, n, ", ")
    for (k = 1; k <= n; k++) types = types (k > 1 ? " " : "") "Double[n]"
    rest = "at"; restType = "Int[n]"
    loss = "let squares (" list("y", 1, n, ", ") ") = sqnorm " list("y", 1, n, " + sqnorm ") "\n"
}
BEGIN {
    if (kind == "lets") lets()
    else if (kind == "attention") attention()
    else if (kind == "whiles") whiles()
    else if (kind == "fors") fors()
    else if (kind == "fft") fft()
    else if (kind == "rk4") rk4()
    else if (kind == "branches") branches()
    else if (kind == "products") products()
    else if (kind == "kalman") kalman()
    else if (kind == "outputs") outputs()
    else { print "generate.awk: there is no kind " kind > "/dev/stderr"; exit 1 }
    several = split(names, name, ", ")
    split(types, type, " ")
    for (i = 1; i <= several; i++) {
        parameters = parameters " (" name[i] ": " type[i] ")"
        directions = directions " (d_" name[i] ": " type[i] ")"
        direction = direction (i > 1 ? ", " : "") "d_" name[i]
        typed = typed (i > 1 ? ", " : "") name[i] ": " type[i]
    }
    other = rest == "" ? "" : " " rest
    otherTyped = rest == "" ? "" : " (" rest ": " restType ")"
    printf "%slet p (%s)%s =\n%s%s", functions, typed, otherTyped, body, loss
    value = loss == "" ? "p (" names ")" other : "squares (p (" names ")" other ")"
    printf "entry e%s%s%s = ", otherTyped, parameters, order == 2 ? directions : ""
    if (order == 0) print "p (" names ")" other
    else if (order == 1) print "grad (fun (" names ") -> " value ") (" names ")"
    else print "hvp (fun (" names ") -> " value ") (" names ") (" direction ")"
}
