#!/bin/sh
# Whether a compiler prints for every program what another one printed, to the byte: loop trees, LLVM IR, CUDA code, and messages.
# For changes that must not change code: save what the build before prints, then compare the build after.
#
# usage: tests/same.sh save FSMC FILE [WORD...]       FILE gets a line for each program and set of options, with checksums
#        tests/same.sh compare FSMC FILE [WORD...]    prints the lines that differ; the last line counts them
# A WORD leaves only programs whose path contains it. FSMC_SAME_JOBS: how many at a time (the number of processors).
. "$(dirname "$0")/each_program.sh"

# One program by all sets of options: a line for each, with the checksum of what is printed, errors included. CPU code is for a
# processor that is named, so that two machines compare; one set has threads, and wide vectors with masks.
if [ "${1:-}" = --program ]; then
    sum_of() { # NAME KINDS OPTION...
        name=$1 kinds=$2
        shift 2
        rm -f "$tmp"/x.*
        ulimit -t 300
        "$fsmc" "$program" --emit="$kinds" "$@" -o "$tmp/x.o" >"$tmp/out" 2>&1
        echo "--- exit $?" >>"$tmp/out"
        for f in "$tmp"/x.*; do [ ! -f "$f" ] || cat "$f" >>"$tmp/out"; done
        sum=$(sha256sum <"$tmp/out")
        echo "$program $name ${sum%% *}"
    }
    for fp in precise contract fast; do
        for level in 0 1 2 3; do
            sum_of "-O$level,$fp" loops,llvm -O$level --fp=$fp --target-cpu=x86-64-v3
            sum_of "-O$level,$fp,cuda" loops,cuda -O$level --fp=$fp --target=cuda
        done
        sum_of "-O3,$fp,wide,threads" loops,llvm -O3 --fp=$fp --target-cpu=x86-64-v4 --threads=2
    done
    exit 0
fi

case "${1:-}" in save | compare) ;; *) usage ;; esac
mode=$1 file=$3
fsmc=$(realpath "$2") && [ -x "$fsmc" ] || usage
shift 3
new=$(mktemp) || exit 2
trap 'rm -f "$new"' EXIT
each_program "${FSMC_SAME_JOBS:-}" "$fsmc" "$@" | sort >"$new"
if [ "$mode" = save ]; then
    cp "$new" "$file"
    echo "$(wc -l <"$new") lines saved"
    exit 0
fi
# Programs that only one of the two knows are not compared.
awk -v file="$file" '
    BEGIN { while ((getline line < file) > 0) { split(line, w, " "); before[w[1] " " w[2]] = w[3] } }
    !(($1 " " $2) in before) { unknown++; next }
    { compared++ }
    before[$1 " " $2] != $3 { print "differs: " $1 " " $2; different++ }
    END { printf "%d the same, %d differ, %d not in %s\n", compared - different, different, unknown, file
          exit different > 0 || !compared }' "$new"
