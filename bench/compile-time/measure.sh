#!/bin/sh
# Compile time against size: measure.sh [RUNS [SIZES [LIMIT]]]. For each kind of program of generate.awk, and for its
# gradient, the processor time of `fsmc FILE -o FILE.o` (median of RUNS; "-" if it takes more than LIMIT seconds), and the
# exponent e of time ~ size^e fitted to the sizes, less the time for one statement.
here=$(dirname "$0")
unset FSMC_CACHE # what is measured is made anew
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
runs=${1:-3} limit=${3:-100}
seconds() { # KIND SIZE DERIVATIVE
    awk -v kind=$1 -v n=$2 -v derivative=$3 -f "$here/generate.awk" > "$tmp/p.fsm"
    for r in $(seq $runs); do
        ( ulimit -t $limit; ${FSMC:-fsmc} -Wno-unused-let "$tmp/p.fsm" -o "$tmp/p.o" 2> "$tmp/errors" && times ) |
            awk 'END { if (NR < 2) { print "-"; exit } split($1, u, /[ms]/); split($2, s, /[ms]/); print u[1] * 60 + u[2] + s[1] * 60 + s[2] }'
    done | sort -n | awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] }'
}
for kind in straight branchy partial nests; do
    for derivative in 0 1; do
        start=$(seconds $kind 1 $derivative)
        for n in ${2:-500 5000 50000}; do
            t=$(seconds $kind $n $derivative)
            echo "$kind $derivative $n $t $start"
            [ "$t" = - ] && break
        done
    done
done | awk '
    { key = $1 ($2 ? ", gradient" : ""); if (!(key in row)) order[++keys] = key; row[key] = row[key] " " $3 ": " $4 }
    $4 != "-" && $4 > $5 { x = log($3); y = log($4 - $5); n[key]++; sx[key] += x; sy[key] += y; xx[key] += x * x; xy[key] += x * y }
    END {
        for (i = 1; i <= keys; i++) {
            k = order[i]; d = n[k] * xx[k] - sx[k] * sx[k]
            printf "%-20s%s; exponent %s\n", k, row[k], (n[k] > 1 ? sprintf("%.2f", (n[k] * xy[k] - sx[k] * sy[k]) / d) : "-")
        }
    }'
