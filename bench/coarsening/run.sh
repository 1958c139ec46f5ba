#!/bin/sh
# The programs of [CO] Table 1 (docs/benchmarks.md): makes the data of a configuration, and measures objective and gradient.
# usage: bench/coarsening/run.sh cost|bench|table [PROGRAM [CONFIGURATION]] [OPTION...]; configurations are 1 to 3.
# Options are those of `fsmc cost` or `fsmc bench`. Builds fsmc if need be.
#
# table: one row for each configuration, with gradients that coarsening has simplified (--fp=fast) and that it has not
# (--fp=fast --no-coarsen), and those of the programs of peers/: ADOL-C, if c++ finds its headers, and JAX, if the Python
# $FSMC_JAX (python3) has it. All are measured in turns, $FSMC_ROUNDS (3) times; times are the smallest. Exit status 1 if
# gradients differ.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd -P)
. "$root/bench/common.sh"
what=${1:?cost, bench or table}
shift
programs='bgd_hyperopt brachistochrone cartpole hmc hookean_spring qwop' configurations='1 2 3'
case ${1:--} in -*) ;; *) programs=$1 && shift ;; esac
case ${1:--} in -*) ;; *) configurations=$1 && shift ;; esac
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT

# pick N A B C: the N-th of the three.
pick() { shift "$1" && echo "$1"; }

fsmc() { "$FSMC_BUILD/fsmc" "$@"; }

# make ENTRY NAME=VALUE...: writes what an entry of the program gives to $data/0.npy and so on, or $data/all.npy if it is one array.
make() { fsmc run "$file" "$@" -o "$data/all.npy"; }

# ---- table

rounds=${FSMC_ROUNDS:-3} adolc='' jax='' table=$data/table

find_peers() {
    peers=$root/bench/coarsening/peers
    if ${CXX:-c++} -O3 -march=native -std=c++17 "$peers/adolc.cpp" -ladolc -o "$data/adolc" 2>"$data/log"; then
        adolc=$data/adolc
    else
        echo "no ADOL-C: $(head -n 1 "$data/log")"
    fi
    python=${FSMC_JAX:-python3}
    if "$python" -c 'import jax' 2>/dev/null; then jax="$python $peers/jax_peer.py"; else echo "no JAX: $python cannot import it"; fi
    echo "program n | operations: on, off | ns: objective, gradient on, off, ADOL-C, JAX | gradient/objective | on is faster than off, ADOL-C, JAX"
}

# same A B NAME: notes it if the numbers in two files differ.
same() { near "$1" "$2" 8 || { echo "$program $configuration: $3 gives another gradient" && touch "$data/bad"; }; }

# timed NAME FSMC-OPTION... -- ARGUMENT...: appends the nanoseconds of objective and gradient to $data/NAME.
timed() {
    name=$1
    shift
    fsmc bench --json --min-time=0.2 "$file" "$objective" --compare="$gradient" "$@" |
        grep -o '"minimum_s": [0-9.e+-]*' | awk '{ printf "%.1f ", $2 * 1e9 } END { print "" }' >>"$data/$name"
}

operations() { fsmc cost "$file" "$gradient" "$@" | awk -F'[:,]' '{ print $2 + $4 + $6 + $8 }'; }

# peer NAME COMMAND...: appends the nanoseconds of a gradient to $data/NAME.
peer() {
    name=$1
    shift
    (cd "$data" && "$@") >"$data/got" # ADOL-C writes large tapes to files where it runs
    head -n 1 "$data/got" >>"$data/$name"
    sed 1d "$data/got" >"$data/gradient"
    same "$data/on.gradient" "$data/gradient" "$name"
}

# least NAME COLUMN: the smallest number of a file's column, or a dash.
least() { awk -v c="$2" 'NF && (!n++ || $c < x) { x = $c } END { print n ? x : "-" }' "$data/$1" 2>/dev/null || echo -; }

# compare NAME=VALUE...: a row. $words are the arguments of the peers.
compare() {
    rm -f "$data/on" "$data/off" "$data/ADOL-C" "$data/JAX"
    fsmc run --fp=fast "$file" "$gradient" "$@" >"$data/on.gradient"
    fsmc run --fp=fast --no-coarsen "$file" "$gradient" "$@" >"$data/off.gradient"
    same "$data/on.gradient" "$data/off.gradient" 'coarsening off'
    round=0
    while [ $round -lt "$rounds" ]; do
        timed on --fp=fast "$@"
        timed off --fp=fast --no-coarsen "$@"
        # shellcheck disable=SC2086
        [ -z "$adolc" ] || peer ADOL-C "$adolc" $program $words
        # shellcheck disable=SC2086
        [ -z "$jax" ] || peer JAX $jax $program $words
        round=$((round + 1))
    done
    echo "$program $configuration $(operations --fp=fast "$@") $(operations --fp=fast --no-coarsen "$@") $(least on 1) $(least on 2)" \
        "$(least off 2) $(least ADOL-C 1) $(least JAX 1)" | tee -a "$table" | rows
}

rows() {
    awk '{ printf "%s %d | %d %d | %.0f %.0f %.0f %s %s | %.2f | %.2f", $1, $2, $3, $4, $5, $6, $7, $8, $9, $6 / $5, $7 / $6
        for (i = 8; i <= 9; i++) if ($i == "-") printf " -"; else printf " %.1f", $i / $6
        print "" }'
}

means() {
    awk '{ for (i = 7; i <= 9; i++) if ($i != "-") { log_sum[i] += log($i / $6); n[i]++ } }
        END { printf "geometric means, %d rows: on is faster than off %.2f", NR, exp(log_sum[7] / n[7])
            if (n[8]) printf ", than ADOL-C %.1f", exp(log_sum[8] / n[8])
            if (n[9]) printf ", than JAX %.1f", exp(log_sum[9] / n[9])
            print "" }' "$table"
}

# ---- all

# measure OBJECTIVE GRADIENT NAME=VALUE...
measure() {
    objective=$1 gradient=$2
    shift 2
    [ "$what" = table ] && compare "$@" && return
    echo "$program $configuration: $objective, $gradient"
    case $what in
    bench) fsmc bench "$file" "$objective" --compare="$gradient" "$@" ;;
    *) for entry in "$objective" "$gradient"; do fsmc "$what" "$file" "$entry" "$@"; done ;;
    esac
}

[ "$what" != table ] || find_peers
for program in $programs; do
    file=$root/bench/coarsening/$program.fsm
    for configuration in $configurations; do
        a=$data/all.0.npy b=$data/all.1.npy c=$data/all.2.npy
        case $program in
        bgd_hyperopt)
            make records n="$(pick "$configuration" 200 1000 2000)"
            words="0.1 200 $a $b"
            measure error gradient "$@" r=0.1 steps=200 x=@"$a" y=@"$b"
            ;;
        brachistochrone)
            make line n="$(pick "$configuration" 200 400 1000)" depth=1
            words="1 1 $data/all.npy"
            measure duration gradient "$@" width=1 depth=1 drops=@"$data/all.npy"
            ;;
        cartpole)
            make episode b="$(pick "$configuration" 6 8 10)"
            words="$a $b"
            measure loss gradient "$@" start=@"$a" pushes=@"$b"
            ;;
        hmc)
            make weights d="$configuration"
            mv "$data/all.npy" "$data/beta.npy"
            make records n="$(pick "$configuration" 100 1000 800)" d="$configuration"
            words="$data/beta.npy $a $b"
            measure u gradU "$@" beta=@"$data/beta.npy" x=@"$a" y=@"$b"
            ;;
        hookean_spring)
            make ring n="$(pick "$configuration" 10 20 40)"
            words="10 $a $b $c"
            measure energy gradient "$@" stiffness=10 positions=@"$a" ends=@"$b" rest=@"$c"
            ;;
        qwop)
            make figure steps=100 weight="$(pick "$configuration" 50 70 100)"
            words="$a $b"
            # With that pass, compiling takes long.
            measure score gradient --disable-pass=keep "$@" schedule=@"$a" mass=@"$b"
            ;;
        esac
    done
done
[ "$what" != table ] || means
[ ! -e "$data/bad" ]
