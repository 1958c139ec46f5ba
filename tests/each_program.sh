# What campaigns over all programs share (same.sh, outputs.sh): each program has a process of the script to itself, several at a time.
# Sourced first. With --program FSMC PROGRAM as arguments, the script is such a process: it sets fsmc, program, and tmp, a folder that
# goes with it, and works in the root of the sources.
set -u
root=$(cd "$(dirname "$0")/.." && pwd -P) || exit 2
if [ "${1:-}" = --program ]; then
    fsmc=$2 program=$3
    cd "$root" || exit 2
    tmp=$(mktemp -d) || exit 2
    trap 'rm -rf "$tmp"' EXIT
fi
# What the script says at its top of how it is called.
usage() {
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}
# JOBS FSMC WORD-OR-FILE...: what the processes print, so many at a time ("": as there are processors), of the programs of the tests,
# examples and benchmarks whose path contains a word (of all without any), and of the files. FSMC has a path from the root.
each_program() {
    jobs=$1 compiler=$2
    shift 2
    [ $# -gt 0 ] || set -- .fsm
    for word; do
        if [ -f "$word" ]; then realpath "$word"; else (cd "$root" && find tests examples bench -name '*.fsm') | grep -F -- "$word"; fi
    done | sort -u | xargs -P "${jobs:-$(nproc)}" -n 1 sh "$0" --program "$compiler"
}
