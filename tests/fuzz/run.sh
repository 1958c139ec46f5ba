#!/bin/sh
# Fuzzes the readers. usage: tests/fuzz/run.sh [TARGET|all] [SECONDS] [OPTION OF LIBFUZZER...]
# tests/README.md describes what is where. The exit status is 0 if nothing was found.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd -P) || exit 1
. "$root/cmake/setup.sh"

target=${1:-all}
seconds=${2:-60}
[ $# -gt 1 ] && shift 2 || shift $#
build_preset fuzz fuzzers || exit 1
[ "$target" = all ] && target=$(ls "$build/fuzz")

# Programs of the tests as seeds: all targets that read F̃ take them as they are; the others have only the kept corpus.
seeds() {
    mkdir -p "$build/seeds/$1" "$build/corpus/$1" "$root/tests/fuzz/corpus/$1"
    case $1 in
    json | npy) ;;
    ir)
        find "$root/tests" "$root/examples" -name '*.fsm' -size -8 | while read -r f; do
            out=$build/seeds/ir/$(echo "${f#"$root"/}" | tr / _).ir
            [ -e "$out" ] || "$build/fsmc" --emit=ir "$f" >"$out" 2>/dev/null || rm -f "$out"
        done
        ;;
    tree)
        find "$root/tests" "$root/examples" -name '*.fsm' -size -2 | while read -r f; do
            for how in -g "-O3 --threads=2" --target=cuda; do
                out=$build/seeds/tree/$(echo "${f#"$root"/}" | tr / _)$(echo "$how" | tr -d ' ').tree
                [ -e "$out" ] || "$build/fsmc" --emit=tree $how "$f" >"$out" 2>/dev/null || rm -f "$out"
            done
        done
        ;;
    *)
        size=-8
        [ "$1" = types ] && size=-3
        find "$root/tests" "$root/examples" -path "$root/tests/fuzz" -prune -o -name '*.fsm' -size $size -print |
            while read -r f; do cp "$f" "$build/seeds/$1/$(echo "${f#"$root"/}" | tr / _)"; done
        ;;
    esac
}

# The recursion of the compiler needs more than the usual stack; a failed allocation is an error, not a crash.
ulimit -s 1048576 2>/dev/null || ulimit -s "$(ulimit -H -s)"
ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=1024:malloc_context_size=4
UBSAN_OPTIONS=print_stacktrace=1
export ASAN_OPTIONS UBSAN_OPTIONS

status=0
for t in $target; do
    seeds "$t"
    case $t in
    json | npy) dictionary=$root/tests/fuzz/$t.dict length=512 ;;
    ir) dictionary=$root/tests/fuzz/ir.dict length=2048 ;;
    tree) dictionary=$root/tests/fuzz/tree.dict length=4096 ;;
    types) dictionary=$root/tests/fuzz/fsm.dict length=1024 ;;
    *) dictionary=$root/tests/fuzz/fsm.dict length=2048 ;;
    esac
    mkdir -p "$build/found/$t"
    "$build/fuzz/$t" -max_total_time="$seconds" -max_len=$length -dict="$dictionary" -timeout=20 -rss_limit_mb=3000 \
        -artifact_prefix="$build/found/$t/" -print_final_stats=1 "$@" \
        "$build/corpus/$t" "$root/tests/fuzz/corpus/$t" "$build/seeds/$t" || status=1
done
exit $status
