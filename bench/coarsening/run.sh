#!/bin/sh
# The programs of [CO] Table 1 (docs/benchmarks.md): makes the data of a configuration, and measures objective and gradient.
# usage: bench/coarsening/run.sh cost|bench [PROGRAM [CONFIGURATION]] [OPTION...]; configurations are 1 to 3.
# Options are those of `fsmc cost` or `fsmc bench`. Builds fsmc if need be.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd -P)
. "$root/cmake/setup.sh"
[ -x "$root/build/fsmc" ] || { install_missing && build_preset release; }
what=${1:?cost or bench}
shift
programs='bgd_hyperopt brachistochrone cartpole hmc hookean_spring qwop' configurations='1 2 3'
case ${1:--} in -*) ;; *) programs=$1 && shift ;; esac
case ${1:--} in -*) ;; *) configurations=$1 && shift ;; esac
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT

# pick N A B C: the N-th of the three.
pick() { shift "$1" && echo "$1"; }

fsmc() { "$root/build/fsmc" "$@"; }

# make ENTRY NAME=VALUE...: writes what an entry of the program gives to $data/0.npy and so on, or $data/all.npy if it is one array.
make() { fsmc run "$file" "$@" -o "$data/all.npy"; }

# measure OBJECTIVE GRADIENT NAME=VALUE...
measure() {
    objective=$1 gradient=$2
    shift 2
    echo "$program $configuration: $objective, $gradient"
    case $what in
    bench) fsmc bench "$file" "$objective" --compare="$gradient" "$@" ;;
    *) for entry in "$objective" "$gradient"; do fsmc "$what" "$file" "$entry" "$@"; done ;;
    esac
}

for program in $programs; do
    file=$root/bench/coarsening/$program.fsm
    for configuration in $configurations; do
        a=$data/all.0.npy b=$data/all.1.npy c=$data/all.2.npy
        case $program in
        bgd_hyperopt)
            make records n="$(pick "$configuration" 200 1000 2000)"
            measure error gradient "$@" r=0.1 steps=200 x=@"$a" y=@"$b"
            ;;
        brachistochrone)
            make line n="$(pick "$configuration" 200 400 1000)" depth=1
            measure duration gradient "$@" width=1 depth=1 drops=@"$data/all.npy"
            ;;
        cartpole)
            make episode b="$(pick "$configuration" 6 8 10)"
            measure loss gradient "$@" start=@"$a" pushes=@"$b"
            ;;
        hmc)
            make records n="$(pick "$configuration" 100 1000 800)" d="$configuration"
            measure u gradU "$@" beta="$(pick "$configuration" '[0.5]' '[0.5, -0.5]' '[0.5, -0.5, 0.5]')" x=@"$a" y=@"$b"
            ;;
        hookean_spring)
            make ring n="$(pick "$configuration" 10 20 40)"
            measure energy gradient "$@" stiffness=10 positions=@"$a" ends=@"$b" rest=@"$c"
            ;;
        qwop)
            make figure steps=100 weight="$(pick "$configuration" 50 70 100)"
            measure score gradient "$@" schedule=@"$a" mass=@"$b"
            ;;
        esac
    done
done
