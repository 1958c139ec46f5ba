# sh growth.sh FILE ENTRY NAME=KIND...
# Prints what a call costs at n = 10, 20 and 40, and how each count grows: it must be linear in n. A KIND is n (the
# number), vector (of n elements), vector+K (of n + K elements), square (n rows of n), indices (n numbers below n), or a JSON value.
file=$1
entry=$2
shift 2

# A vector of $1 elements between 0 and 1.
vector() {
    awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) printf "%s%.3f", i ? "," : "[", (i * 7 % 11 + 1) / 12; print "]" }'
}

# $1 of them.
square() {
    row=$(vector "$1")
    awk -v n="$1" -v row="$row" 'BEGIN { for (i = 0; i < n; i++) printf "%s%s", i ? "," : "[", row; print "]" }'
}

costs() {
    n=$1
    shift
    set -- "$@" --
    while [ "$1" != -- ]; do
        name=${1%%=*}
        kind=${1#*=}
        case $kind in
        n) value=$n ;;
        vector) value=$(vector "$n") ;;
        vector+*) value=$(vector $((n + ${kind#vector+}))) ;;
        square) value=$(square "$n") ;;
        indices) value=$(awk -v n="$n" 'BEGIN { for (i = 0; i < n; i++) printf "%s%d", i ? "," : "[", (i * 7 + 3) % n; print "]" }') ;;
        *) value=$kind ;;
        esac
        shift
        set -- "$@" "$name=$value"
    done
    shift
    fsmc cost "$file" "$entry" "$@"
}

for n in 10 20 40; do
    line=$(costs $n "$@") || exit
    echo "n = $n: $line"
done | awk '
    {
        print
        gsub(/[{},":]/, " ")
        for (i = 4; i < NF; i += 2) { if (NR == 1) name[++k] = $i; count[NR, $i] = $(i + 1) }
    }
    END {
        if (NR != 3) exit 1
        for (i = 1; i <= k; i++) {
            a = count[1, name[i]]; b = count[2, name[i]]; c = count[3, name[i]]
            if (c - b != 2 * (b - a)) { print name[i] " is not linear in n"; bad = 1 }
        }
        if (!bad) print "linear"
    }'
