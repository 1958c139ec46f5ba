# What `run.sh --changed` runs: files, and of what they can touch only some names, so that this stays as it is when
# tests are added.
[ -f "$FSMC_BUILD/build.ninja" ] || { echo "the build is not by Ninja"; exit 77; }
cd "$FSMC_ROOT" || exit 1
of() { # FILE NAME…: which of these tests run when the file changes
    file=$1
    shift
    printf '%s\n' "$file" | sh tests/changed.sh "$FSMC_BUILD" >"$FSMC_TEST_TMP/words"
    echo "$file:"
    for name; do
        while read -r word; do case $word in all) echo all ;; *) case $name in *"$word"*) echo "$name" ;; esac esac
        done <"$FSMC_TEST_TMP/words" | sed 's/^/  /' | sort -u
    done | uniq
}
of src/tools/format.c fmt/style unit/format unit/interp cpu/arrays docs/tools.md # a source that a unit program has, too
of src/support/arena.h fmt/style # all have it
of tests/oracle/oracle.h unit/worth ad/folds unit/interp cpu/arrays # of some programs
of docs/tools.md docs/tools.md docs/language.md
of tests/cpu/sums.out cpu/sums unit/messages unit/interp cpu/arrays # a test's
of tests/cpu/arrays.fsm cpu/arrays cpu/npy unit/format cpu/sums # of several tests
of tests/errors/try.sh errors/deep driver/deps messages/passes cpu/arrays # of several folders
of tests/cuda/fake/cublas_v2.h cuda/blas cpu/arrays # beside tests, of none
of "tests/cpu/not there.txt" cpu/arrays errors/deep
of src/tools/gone.c cpu/arrays
of tests/run.sh suite/changed cpu/arrays
of something.txt cpu/arrays
echo tests/touches: # each row fits a file, and each word is part of a test's name
fsmc_tests --list >"$FSMC_TEST_TMP/tests"
find . '(' -path ./build -o -path './build-*' -o -path ./.git ')' -prune -o -type f -print |
    sed 's|^\./||' >"$FSMC_TEST_TMP/files"
grep -v '^#' tests/touches | while read -r pattern words; do
    [ -z "$pattern" ] || grep -qxE -e "$pattern" "$FSMC_TEST_TMP/files" || echo "  no file: $pattern"
    for word in $words; do
        case $word in + | all) continue ;; esac
        grep -qF -e "$word" "$FSMC_TEST_TMP/tests" || echo "  no test: $word"
    done
done
