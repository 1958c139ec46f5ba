#!/bin/sh
# What programs of more and more parts become: measure.sh [RUNS [COPIES [LIMIT [KIND...]]]]. For each kind of program
# of generate.awk, its gradient, and a product of its Hessian with a direction: lines of `--emit=ir` and of
# `--emit=loops`, instructions of the object, processor seconds and MiB of memory until it is there (the medians of
# RUNS; with 0 there are no objects, but only lines, which are the same on every machine).
# Programs that take more than LIMIT seconds, and those of more copies, are left out. Each figure is said as it is made.
# The table has those of the most copies, and after each the e of a + b copies^e through the first, the middle and the
# last of COPIES: what the first copy costs besides is no growth, and e is 1 if further copies add as much as those
# before. "!": above 1.1; "+": not so, but from the last but one to the last of COPIES the figure grows by such an
# exponent; "-": too little is added to tell. It needs objdump and a C compiler, unless RUNS is 0.
here=$(dirname "$0")
unset FSMC_CACHE # what is measured is made anew
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
runs=${1:-3} copies=${2:-1 2 4 8 16} limit=${3:-100}
[ $# -gt 3 ] && shift 3 && kinds="$*" || kinds="lets attention whiles fors fft rk4 branches products kalman outputs"
flags=--fp=fast
[ "$runs" = 0 ] || flags="$flags --target-cpu=native"
${FSMC:-fsmc} --version > "$tmp/version" || exit
[ "$runs" = 0 ] || ${CC:-cc} -O1 "$here/usage.c" -o "$tmp/usage" || exit
generate() { awk -v kind=$1 -v n=$2 -v order=$3 -f "$here/generate.awk"; }
for kind in $kinds; do generate $kind 1 0 > "$tmp/p.fsm" || exit; done
lines() {
    (ulimit -t $limit; ${FSMC:-fsmc} $flags --emit=ir,loops "$tmp/p.fsm" -o "$tmp/p") &&
        echo $(wc -l < "$tmp/p.ir") $(wc -l < "$tmp/p.loops")
}
object() {
    for r in $(seq $runs); do
        "$tmp/usage" $limit ${FSMC:-fsmc} $flags "$tmp/p.fsm" -o "$tmp/p.o" || exit
    done > "$tmp/used"
    echo $(objdump -d --no-show-raw-insn "$tmp/p.o" | grep -c '^ *[0-9a-f]*:') $(middle 1) $(middle 2)
}
middle() { sort -n -k $1,$1 "$tmp/used" | awk -v i=$1 '{ v[NR] = $i } END { print v[int((NR + 1) / 2)] }'; }
for kind in $kinds; do
    for order in 0 1 2; do
        for n in $copies; do
            generate $kind $n $order > "$tmp/p.fsm"
            counted=$(lines) || { echo "$kind $order $n - - - - -"; break; }
            [ "$runs" = 0 ] && made="- - -" || made=$(object) || { echo "$kind $order $n - - - - -"; break; }
            echo "$kind $order $n $counted $made"
        done
    done
done | tee -a /dev/stderr | awk -v copies="$copies" '
    function exponent(x, y, z, a, b, c, low, high, e, k) { # of copies x, y, z that have a, b, c
        if (b <= a) return log(c / b) / log(z / y)
        low = 0.001
        high = 6
        for (k = 0; k < 40; k++) {
            e = (low + high) / 2
            if ((z ^ e - y ^ e) / (y ^ e - x ^ e) < (c - b) / (b - a)) low = e; else high = e
        }
        return e
    }
    function cell(m, first, mid, last, e, step, mark) {
        if (v[last, m] == "-") return "-"
        e = "-"
        if (mid > first && last > mid && v[last, m] - v[first, m] >= least[m])
            e = sprintf("%.2f", exponent(n[first], n[mid], n[last], v[first, m], v[mid, m], v[last, m]))
        step = e == "-" ? 0 : log(v[last, m] / v[last - 1, m]) / log(n[last] / n[last - 1])
        mark = e != "-" && e + 0 > 1.1 ? "!" : step > 1.105 ? "+" : ""
        return sprintf(m < 4 ? "%d %s" : "%.2f %s", v[last, m] / unit[m], e) mark
    }
    function row(m) {
        if (!count) return
        printf "%-10s %-9s", kind, split("value gradient hvp", order_name, " ") ? order_name[order + 1] : ""
        for (m = 1; m <= 5; m++) printf " %15s", cell(m, 1, int((count + 1) / 2), count)
        print n[count] == most ? "" : "  (" n[count] " copies)"
    }
    BEGIN {
        most = copies
        sub(/.* /, "", most)
        for (m = 1; m <= 5; m++) { unit[m] = 1; least[m] = 1 }
        least[4] = 0.3
        unit[5] = 1024
        least[5] = 4096
        print "At " most " copies, and the exponents:"
        printf "%-10s %-9s %15s %15s %15s %15s %15s\n",
            "kind", "entry", "IR lines", "tree lines", "instructions", "seconds", "MiB"
    }
    $1 != kind || $2 != order { row(); count = 0; kind = $1; order = $2 }
    $4 != "-" { n[++count] = $3; for (m = 1; m <= 5; m++) v[count, m] = $(m + 3) }
    END { row() }'
