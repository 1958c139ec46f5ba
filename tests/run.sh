#!/bin/sh
# Installs what is missing, builds, runs the tests. usage: tests/run.sh [--preset NAME] [--update] [-v] [FILTER...]
# or those that need a GPU: tests/run.sh [--preset NAME] --gpu
# or those that a change can touch: tests/run.sh [--preset NAME] --changed [REV] [-v]
# where the change is what differs from the revision REV (HEAD), as git says, and new files.
# The last line is "N passed, N failed[, N skipped]"; the exit status is 0 only if nothing failed.
set -u
root=$(cd "$(dirname "$0")/.." && pwd -P) || exit 1
. "$root/cmake/setup.sh"

# changed_files REV: their names from $root on; removed ones, too.
changed_files() {
    git -C "$root" diff --relative --no-renames --name-only "$1" -- &&
        git -C "$root" ls-files --others --exclude-standard
}

preset=release
if [ "${1:-}" = --preset ]; then
    preset=${2:?a preset is expected}
    shift 2
fi
rev=
if [ "${1:-}" = --changed ]; then
    rev=HEAD
    shift
    case ${1:-} in '' | -*) ;; *) rev=$1 && shift ;; esac
    if ! git -C "$root" rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        echo "all tests: this is not a work tree of git" >&2
        rev=
    elif ! git -C "$root" rev-parse -q --verify "$rev^{commit}" >/dev/null; then
        echo "tests/run.sh: git knows no revision $rev" >&2
        exit 2
    fi
fi
if ! install_missing || ! build_preset "$preset"; then
    echo "FAILED build: the tests were not run"
    echo "0 passed, 1 failed"
    exit 1
fi
[ "${1:-}" != --gpu ] || exec sh "$root/tests/gpu.sh" "$build"
if [ -n "$rev" ]; then
    files=$(changed_files "$rev") && names=$(printf '%s\n' "$files" | sh "$root/tests/changed.sh" "$build") || exit 2
    if [ -z "$names" ]; then
        echo "no test can be touched"
        echo "0 passed, 0 failed"
        exit 0
    fi
    if [ "$names" != all ]; then
        # shellcheck disable=SC2086 # names of tests have no spaces
        echo "tests that can be touched:" $names
        set -f
        # shellcheck disable=SC2086
        set -- "$@" $names
    fi
fi
exec "$build/fsmc_tests" "$@"
