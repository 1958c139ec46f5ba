# Sourced by the tests: a program in textual IR, its results, and what its loops execute beside what careful C would.

# array EXTENT...: numbers between 0.08 and 0.92, as JSON.
array() {
    awk -v extents="$*" '
        function show(k, i, sep) {
            if (k > rank) { printf "%.2f", (at++ * 7 % 11 + 1) / 12; return }
            printf "["
            for (i = 0; i < n[k]; i++) { if (i) printf ","; show(k + 1) }
            printf "]"
        }
        BEGIN { rank = split(extents, n, " "); show(1) }'
}

# dominant N: a square matrix with N + 1 on the diagonal.
dominant() {
    awk -v n="$1" 'BEGIN {
        for (i = 0; i < n; i++)
            for (j = 0; j < n; j++)
                printf "%s%.2f", j ? "," : i ? "],[" : "[[", i == j ? n + 1 : ((i * 7 + j * 3) % 11) / 12
        print "]]"
    }'
}

# indices N BOUND: N numbers below BOUND.
indices() { awk -v n="$1" -v m="$2" 'BEGIN { for (i = 0; i < n; i++) printf "%s%d", i ? "," : "[", (i * 5 + 3) % m; print "]" }'; }

. "$FSMC_ROOT/tests/cpu/engines.sh"

# agree FILE ENTRY [NAME=VALUE]...: do the loops and the compiled code give what the interpreter gives? Rounded to ten
# digits, since sums may be in another order. show: the same, and prints it.
agree() {
    want=$(fsmc run --interp "$@" 2>&1 | rounded)
    for how in --exec '--exec -O0' '--exec --disable-pass=share' -O0 -O2; do
        got=$(fsmc run $how "$@" 2>&1 | rounded)
        [ "$got" = "$want" ] || echo "$2 $how: $got instead of $want"
    done
}
show() {
    agree "$@"
    echo "$want"
}

# count SIZES "ITERATIONS LOADS STORES BYTES" FILE ENTRY [NAME=VALUE]...: what the loops execute, and in brackets what C
# does where that is different ('-': not compared).
c_name=C
count() {
    sizes=$1
    c=$2
    shift 2
    fsmc cost "$@" | awk -v c="$c" -v name="$c_name" -v head="$2, $sizes" '{
        gsub(/[{},":]/, " ")
        split(c, want, " ")
        printf "%s:", head
        for (i = 1; i < NF; i += 2) {
            k = $i == "iterations" ? 1 : $i == "loads" ? 2 : $i == "stores" ? 3 : $i == "bytes" ? 4 : 0
            if (!k) continue
            printf " %s %d", $i, $(i + 1)
            if (want[k] != "-" && want[k] != $(i + 1)) printf " (%s %d)", name, want[k]
        }
        print ""
    }'
}
