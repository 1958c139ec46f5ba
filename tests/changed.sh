#!/bin/sh
# Which tests a change can touch, for `run.sh --changed` (tests/README.md). usage: tests/changed.sh BUILD <files.txt
# Reads the names of changed files, one a line, from the source folder on, and prints parts of names of tests, one a
# line: `all` if any test may be touched, nothing if none is. BUILD is a build by Ninja, made of the changed files. In
# doubt, more tests are named:
#   - of what is compiled: the programs of unit/, ad/ and cuda/ that have an object made of it, and what runs these
#   - of a file of a test: that test; of other files beside tests: all of that folder
#   - what tests/touches says of the file, which it has to say of all sources, or else all are touched
#   - scripts and pages that mention the file, and what mentions other files that do, and so on
set -u
root=$(cd "$(dirname "$0")/.." && pwd -P) || exit 1
build=$(cd "$1" && pwd -P) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$root" || exit 1
sort -u | sed '/^$/d' >"$work/changed"

everything() { # WHY
    echo "all tests: $1" >&2
    echo all
    exit 0
}

[ -f "$build/build.ninja" ] || everything "the build is not by Ninja"
ninja -C "$build" -t deps >"$work/deps" 2>/dev/null || everything "Ninja does not tell what objects are made of"
command -v nm >/dev/null || everything "nm is not installed"
"$build/fsmc_tests" --list >"$work/tests" || everything "the tests are not known"

# --- What tests/touches says. A row with + does not tell all, and so does not make its file known.
awk -v changed="$work/changed" -v known="$work/known" '
    /^#/ || !NF { next }
    { n++; pattern[n] = "^(" $1 ")$"; from = 2; if ($2 == "+") from = 3; else tells[n] = 1; first[n] = from
      for (i = from; i <= NF; i++) word[n, i] = $i
      last[n] = NF }
    END {
        while ((getline file < changed) > 0)
            for (k = 1; k <= n; k++) {
                if (file !~ pattern[k]) continue
                if (tells[k]) print file >known
                for (i = first[k]; i <= last[k]; i++) print word[k, i]
            }
    }' tests/touches >"$work/said"
touch "$work/known"

while IFS= read -r file; do
    case $file in
    README.md | docs/*.md | tests/*.md | examples/*.md) continue ;; # pages
    tests/*/*) folder=${file#tests/} && grep -q -e "^${folder%%/*}/" "$work/tests" && continue ;;
    esac
    grep -qxF -e "$file" "$work/known" || everything "nothing is known of $file"
    case $file in
    src/* | include/* | runtime/* | tests/oracle/* | tests/random/* | tests/fuzz/*.[ch])
        [ -e "$file" ] || everything "$file is gone" ;; # and so are its objects
    esac
done <"$work/changed"
! grep -qx all "$work/said" || everything "tests/touches says so"

# --- Programs: objects that are made of a changed file; then programs that have a symbol of one, or are made of one.
sources=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt") # as the build calls it
awk -v root="$sources/" -v changed="$work/changed" '
    BEGIN { while ((getline name < changed) > 0) is[root name] = 1 }
    /^[^ ]/ { object = $0; sub(/: #deps.*/, "", object); next }
    (substr($0, 5) in is) && object != last { print last = object }' "$work/deps" >"$work/objects"
while IFS= read -r file; do
    case $file in
    src/*.c | runtime/*.c | tests/unit/*.c | tests/ad/*.c | tests/cuda/*.c | tests/oracle/*.c | tests/random/*.c)
        [ ! -e "$file" ] || grep -qxF -e "    $sources/$file" "$work/deps" ||
            everything "no object is made of $file" ;;
    esac
done <"$work/changed"
sed -n 's|^CMakeFiles/unit_\(.*\)\.dir/.*|\1|p' "$work/objects" >"$work/programs"
grep -v '^CMakeFiles/unit_' "$work/objects" |
    while IFS= read -r object; do nm -g --defined-only "$build/$object"; done |
    awk 'NF == 3 && $3 != "main" { print $3 }' | sort -u >"$work/symbols"
if [ -s "$work/symbols" ]; then
    for program in "$build"/tests/*; do
        if [ ! -x "$program" ] || [ ! -f "$program" ]; then continue; fi
        nm --defined-only "$program" 2>/dev/null | awk -v symbols="$work/symbols" -v name="${program##*/}" '
            BEGIN { while ((getline s < symbols) > 0) is[s] = 1 }
            $3 == "main" { has_main = 1 }
            $3 in is { touched = 1 }
            END { if (touched || !has_main) print name }' # without symbols nothing is known of it
    done >>"$work/programs"
fi

# --- Files that are to be looked at: the changed ones, those of programs, and those that mention one of them.
# mentions NEEDLE FOLDER: files that have the needle as words. Where several files have this name, only those that are
# in the folder, or have it with its folder. Golden files use nothing.
mentions() {
    several=$(find tests bench examples -name "$1" | sed -n 2p)
    grep -rlwIF --exclude='*.out' --exclude='*.err' --exclude='*.ast' --exclude-dir=corpus --exclude-dir=crashes \
        -e "$1" tests bench examples docs README.md | while IFS= read -r by; do
        case $by in
        tests/changed.sh | tests/touches) ;;
        "$2"/*) echo "$by" ;;
        *) if [ -z "$several" ] || grep -qF -e "${2##*/}/$1" "$by"; then echo "$by"; fi ;;
        esac
    done
}
has_tests() { grep -qF -e "$1" "$work/tests"; } # whether a test's name has this part

: >"$work/seen"
cp "$work/changed" "$work/todo"
sort -u "$work/programs" | while IFS= read -r program; do
    for folder in unit ad cuda; do [ ! -e "tests/$folder/$program.c" ] || echo "tests/$folder/$program.c"; done
    [ "$program" != ad_programs ] || echo ad/ >>"$work/said"
    mentions "tests/$program" tests
done >>"$work/todo"

while [ -s "$work/todo" ]; do
    sort -u "$work/todo" >"$work/now"
    sort -u "$work/seen" "$work/now" >"$work/both" && mv "$work/both" "$work/seen"
    while IFS= read -r file; do
        folder=${file%/*} name=${file##*/}
        case $file in
        *.md)
            echo "$file" >>"$work/said"
            grep -qxF -e "$file" "$work/changed" || continue ;; # what mentions a page only links to it
        tests/*/*)
            test=${file#tests/}
            test=${test%.*}
            if grep -qxF -e "$test" "$work/tests"; then
                echo "$test"
            elif ! grep -qxF -e "$file" "$work/known"; then
                case $file in
                *.cmd | *.out | *.err | *.ast) ;; # of a test that is gone
                tests/unit/*.c | tests/ad/*.c | tests/cuda/*.c) ;;
                *)
                    while [ "$test" != "${test%/*}" ] && ! has_tests "${test%/*}/"; do test=${test%/*}; done
                    ! has_tests "${test%/*}/" || echo "${test%/*}/" ;;
                esac
            fi >>"$work/said" ;;
        esac
        case $folder:$file in *.cmd | tests:*[!d]) continue ;; esac # no other test runs it
        mentions "$name" "$folder"
        # A script beside it may put the name together, or take all of a kind.
        for script in "$folder"/*.cmd "$folder"/*.sh; do
            [ -e "$script" ] && grep -qwF -e "${name%.*}" -e "*.${name##*.}" "$script" && echo "$script"
        done
    done <"$work/now" | sort -u | comm -23 - "$work/seen" >"$work/todo"
done

# The runner fails where a word is part of no name.
sort -u "$work/said" | while IFS= read -r word; do ! has_tests "$word" || echo "$word"; done
