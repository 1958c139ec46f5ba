#!/bin/sh
# The derivatives of [FS] Figs. 9 and 10 in forward and in reverse mode (docs/benchmarks.md).
# usage: bench/forward/run.sh cost|bench [NAME]... [--sizes="N..."] [OPTION...]
#        bench/forward/run.sh copy
# cost counts what each way of writing a derivative executes, bench measures forward and reverse mode in turn, copy the gradient
# of the dot product beside memcpy. Names are dot, max, largest, add, sparse, scale, nnmf, nnmf10 (of rank 10), nnmfW. Options are those
# of `fsmc cost` or `fsmc bench`. FSMC_BUILD is a build directory (build/, which is made if need be).
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
. "$root/bench/common.sh"
file=$here/forward.fsm names='' sizes=''
what=${1:?cost, bench or copy}
shift
while [ $# -gt 0 ]; do
    case $1 in
    --sizes=*) sizes=${1#*=} ;;
    -*) break ;;
    *) names="$names $1" ;;
    esac
    shift
done
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT

fsmc() { "$FSMC_BUILD/fsmc" "$@"; }

# run SUBCOMMAND ENTRY [OPTION...]: with the arguments that were made.
run() {
    command=$1 entry=$2
    shift 2
    case $entry in
    nnmf*) fsmc "$command" "$file" "$entry" A=@"$data/a.0.npy" W=@"$data/a.1.npy" H=@"$data/a.2.npy" "$@" ;;
    max* | largest*) fsmc "$command" "$file" "$entry" v=@"$data/a.0.npy" "$@" ;;
    scale*) fsmc "$command" "$file" "$entry" v=@"$data/a.0.npy" s=2 "$@" ;;
    *) fsmc "$command" "$file" "$entry" v=@"$data/a.0.npy" w=@"$data/a.1.npy" "$@" ;;
    esac
}

# A line for each way: its counts, and all of them but bytes by those of reverse mode.
count() {
    for way in $ways; do
        echo "$way $(run cost "$entry$way" "$@")"
    done | awk -v name="$name" -v n="$n" '
        { gsub(/[{},":]/, " "); way[NR] = $1
          for (i = 3; i <= NF; i += 2) { count[NR] = count[NR] sprintf(" %10d", $i); all[NR] += $(i - 1) == "bytes" ? 0 : $i }
          if ($1 == "Reverse") reverse = all[NR] }
        END { for (i = 1; i <= NR; i++) printf "%-8s %8d %-8s%s %6s\n", name, n, way[i], count[i], reverse ? sprintf("%.2f", all[i] / reverse) : "-" }'
}

# The nanoseconds of a call of each way, and of one in reverse mode, of the quickest batch, and how much longer the former takes.
measure() {
    for way in $ways; do
        [ "$way" = Reverse ] && continue
        case $way in
        Sparse) run bench "${entry}Sparse" --json "$@" ;;
        *) run bench "${entry}Reverse" --compare="$entry$way" --json "$@" ;;
        esac | tr ',{' '\n\n' | awk -v name="$name" -v n="$n" -v way="$way" '
            /"minimum_s"/ { before = time; time = 1e9 * $2 }
            END { printf "%-8s %8d %-8s %12.0f %12s %6s\n", name, n, way, time, before ? sprintf("%.0f", before) : "-", before ? sprintf("%.2f", time / before) : "-" }'
    done
}

copy() {
    fsmc --target-cpu=native "$file" -o "$data/forward.o"
    gcc -O2 -Wall -Wextra -std=gnu11 -I"$root/include" -I"$data" "$here/copy.c" "$data/forward.o" "$FSMC_BUILD/libfsmrt.a" -lm -o "$data/copy"
    "$data/copy"
}

case $what in
copy) copy && exit ;;
cost) printf '%-8s %8s %-8s %10s %10s %10s %10s %10s %10s %10s %10s %10s %10s %6s\n' name n written add mul div call compare int iterations loads stores bytes ratio ;;
bench) printf '%-8s %8s %-8s %12s %12s %6s\n' name n written ns 'reverse ns' ratio ;;
esac
for name in ${names:-dot max largest add sparse scale nnmf nnmf10 nnmfW}; do
    entry=$name some=$sizes ways='Pairs Loop Forward Reverse'
    case $name in
    add | scale) ways='Pairs Loop Forward Rows Reverse' ;;
    nnmfW) ways='Forward Reverse' ;;
    sparse) entry=add ways=Sparse ;;
    nnmf10) entry=nnmf ;;
    esac
    case $name in
    add | nnmf*) : "${some:=10 32 100 316 1000}" ;; # n x n numbers
    *) : "${some:=10 100 1000 10000 100000 1000000}" ;;
    esac
    for n in $some; do
        case $name in
        nnmf10) fsmc run "$file" matrices n="$n" k=10 -o "$data/a.npy" ;;
        nnmf*) fsmc run "$file" matrices n="$n" k=1 -o "$data/a.npy" ;;
        *) fsmc run "$file" vectors n="$n" -o "$data/a.npy" ;;
        esac
        case $what in
        cost) count "$@" ;;
        bench) measure "$@" ;;
        esac
    done
done
