# Breaks the derivatives in ir/ops.def. Without -v want, prints the names of all mutants; with it, the file with that one.
# A name is ROW.COLUMN.HOW. HOW: neg, plus (one more), gone (zero), swap (the branches of the outermost choice), bare (the
# derivative at a singular point is not set to zero), tie (another one where both sides of the outermost comparison are equal).
function split_args(text, out,    i, c, depth, n, from) { # at the commas outside of parentheses
    n = 0; from = 1
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        if (c == "(") depth++
        if (c == ")") depth--
        if (c == "," && depth == 0) { out[++n] = substr(text, from, i - from); from = i + 1 }
    }
    out[++n] = substr(text, from)
    return n
}
function trim(s) { gsub(/^ +| +$/, "", s); return s }
function inside(s) { return substr(s, index(s, "(") + 1, length(s) - index(s, "(") - 1) }
function broken(d, how,    a, n) {
    if (how == "plus") return d == "ZERO" ? "LIT(1.0)" : "ADD(" d ", LIT(1.0))"
    if (d == "ZERO") return ""
    if (how == "neg") return "NEG(" d ")"
    if (how == "gone") return "ZERO"
    if (how == "swap" && d ~ /^SEL\(/) {
        n = split_args(inside(d), a)
        return "SEL(" a[1] "," a[3] "," a[2] ")"
    }
    if (how == "bare" && d ~ /^KINK\(/) {
        n = split_args(inside(d), a)
        return trim(a[2])
    }
    if (how == "tie" && (d ~ /EQ\(x, y\)/ && sub(/LIT\(0.5\)/, "LIT(1.0)", d) || sub(/LE\(/, "LT(", d) || sub(/LT\(/, "LE(", d))) return d
    return ""
}
/^(OP|HELD)\(/ {
    begin = index($0, "(") + 1
    match($0, /\) *$/)
    n = split_args(substr($0, begin, RSTART - begin), field)
    hows = split("neg plus gone swap bare tie", how_of, " ")
    dx = /^OP/ ? 4 : 3
    for (k = dx; k <= dx + 1; k++) {
        d = trim(field[k])
        if (d == "NONE") continue
        for (h = 1; h <= hows; h++) {
            name = trim(field[1]) "." (k == dx ? "dx" : "dy") "." how_of[h]
            new = broken(d, how_of[h])
            if (new == "") continue
            if (want == "") print name
            if (want != name) continue
            line = substr($0, 1, begin - 1) field[1]
            for (j = 2; j <= n; j++) line = line "," (j == k ? " " new : field[j])
            print line ")"
            changed = 1
        }
    }
    if (changed) { changed = 0; next }
}
want != "" { print }
