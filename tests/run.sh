#!/bin/sh
# Installs what is missing, builds, runs the tests. usage: tests/run.sh [--preset NAME] [--update] [-v] [FILTER...]
# or those that need a GPU: tests/run.sh [--preset NAME] --gpu
# The last line is "N passed, N failed[, N skipped]"; the exit status is 0 only if nothing failed.
set -u
root=$(cd "$(dirname "$0")/.." && pwd -P) || exit 1
. "$root/cmake/setup.sh"

preset=release
if [ "${1:-}" = --preset ]; then
    preset=${2:?a preset is expected}
    shift 2
fi
if ! install_missing || ! build_preset "$preset"; then
    echo "FAILED build: the tests were not run"
    echo "0 passed, 1 failed"
    exit 1
fi
[ "${1:-}" != --gpu ] || exec sh "$root/tests/gpu.sh" "$build"
exec "$build/fsmc_tests" "$@"
