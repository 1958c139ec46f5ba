#!/bin/sh
# Whether code for x86-64 reads more of memory than its program says: LLVM may make of a load of 8 bytes an operand of 16, as of a
# blend of whole registers, which fails where an array ends at the end of a page. It may do so for processors that this machine is not,
# so the code is not run: what each instruction reads is compared with the size of the load in the IR that it came from.
#
# usage: tests/wide_loads.sh FSMC [FILE-OR-WORD...]    prints a line for each fault; the last line counts
# A WORD leaves only programs of the tests, examples and benchmarks whose path contains it; a FILE is another program.
# FSMC_WIDE_CPUS: processors. FSMC_WIDE_LEVELS: of optimisation (0 1 2 3). FSMC_WIDE_UNFENCED=1: without the fences by which src/cpu/llvm.c
# keeps loads apart, so that faults show. FSMC_WIDE_SECONDS: the limit of each command (60); what takes longer is no fault, but is named.
#
# What is recognised: an instruction with a memory operand larger than the load or store that LLVM says it does. LLVM's llc prints
# both, once as assembly (the operand's size: `xmmword ptr`), once as machine code with memory operands (`load (s64)`); instructions
# are of the same kind where their opcodes are. What is not: calls, and instructions of which LLVM does not say what they access.
. "$(dirname "$0")/each_program.sh"

if [ "${1:-}" = --program ]; then
    try() { # WHAT COMMAND...
        what=$1
        shift
        sh -c 'ulimit -t "$0" && exec "$@"' "${FSMC_WIDE_SECONDS:-60}" "$@" 2>"$tmp/err" && return 0
        case $? in
            1) ;; # the program is wrong
            137 | 152) echo "slow: $program $what" ;;
            *) echo "fault: $program $what: $(head -n 1 "$tmp/err" | cut -c1-200)" ;;
        esac
        return 1
    }
    unfenced() { # FILE: its IR with what is fenced in the place of fences
        awk '
            /^define/ { delete of }
            / = call [a-z]* @llvm.arithmetic.fence/ { of[$1] = $NF; sub(/\)$/, "", of[$1]); next }
            {
                line = ""
                while (match($0, /%[A-Za-z0-9_.]+/)) {
                    name = substr($0, RSTART, RLENGTH)
                    line = line substr($0, 1, RSTART - 1) (name in of ? of[name] : name)
                    $0 = substr($0, RSTART + RLENGTH)
                }
                print line $0
            }
        ' "$1"
    }
    for cpu in ${FSMC_WIDE_CPUS:-x86-64-v2 sandybridge haswell skylake znver3 x86-64-v3 x86-64-v4}; do
        for level in ${FSMC_WIDE_LEVELS:-0 1 2 3}; do
            at="-O$level --target-cpu=$cpu"
            try "$at" "$fsmc" "$program" --emit=llvm $at -o "$tmp/x.ll" || continue
            [ -z "${FSMC_WIDE_UNFENCED:-}" ] || { unfenced "$tmp/x.ll" >"$tmp/y.ll" && mv "$tmp/y.ll" "$tmp/x.ll"; }
            code="$FSMC_LLC -O$level -mcpu=$cpu -relocation-model=pic"
            try "$at asm" $code --x86-asm-syntax=intel -asm-show-inst "$tmp/x.ll" -o "$tmp/x.s" &&
                try "$at mir" $code -stop-after=unpack-mi-bundles "$tmp/x.ll" -o "$tmp/x.mir" || continue
            awk -v what="fault: $program $at" '
                function bits(text, n) { # of "s64", "<4 x s64>"
                    if (text ~ /unknown/) return 0
                    n = match(text, /[0-9]+ x /) ? substr(text, RSTART) + 0 : 1
                    return match(text, /[sp][0-9]+/) ? n * substr(text, RSTART + 1, RLENGTH - 1) : 0
                }
                BEGIN {
                    size["byte"] = 8; size["word"] = 16; size["dword"] = 32; size["qword"] = 64
                    size["xmmword"] = 128; size["ymmword"] = 256; size["zmmword"] = 512
                }
                FNR == NR && match($0, /[a-z]*word ptr |byte ptr /) { operand = substr($0, RSTART, RLENGTH - 5) }
                FNR == NR && match($0, /<MCInst #[0-9]+ [A-Za-z0-9_]+/) {
                    opcode = substr($0, RSTART, RLENGTH)
                    sub(/.* /, "", opcode)
                    if (operand != "") reads[opcode] = size[operand]
                    operand = ""
                }
                FNR != NR && /^name:/ { name = $2 }
                FNR != NR && match($0, /:: \(load \([^)]*\)/) {
                    loaded = bits(substr($0, RSTART + 10))
                    # What is read beyond the value is on its page if the address is a multiple of all that is read.
                    access = substr($0, RSTART + 4)
                    sub(/\), \(.*/, "", access)
                    aligned = match(access, /, align [0-9]+/) ? 8 * substr(access, RSTART + 8, RLENGTH - 8) : 0
                    for (i = 1; i <= NF && !($i in reads) && $i != "::"; i++) continue
                    if (loaded && $i in reads && reads[$i] > loaded && reads[$i] > aligned && !seen[name, $i]++)
                        print what ": " name ": " $i " reads " reads[$i] / 8 " bytes of " loaded / 8
                }
            ' "$tmp/x.s" "$tmp/x.mir"
        done
    done
    echo done
    exit 0
fi

[ $# -gt 0 ] || usage
fsmc=$(realpath "$1") && [ -x "$fsmc" ] || usage
shift
for FSMC_LLC in llc-19 llc; do command -v $FSMC_LLC >/dev/null && break; done
export FSMC_LLC
out=$(mktemp) || exit 2
trap 'rm -f "$out"' EXIT
each_program "${FSMC_WIDE_JOBS:-}" "$fsmc" "$@" | tee "$out" | awk '$0 != "done" { print; fflush() }'
echo "$(grep -c '^done$' "$out") programs, $(grep -c '^fault' "$out") faults, $(grep -c '^slow' "$out") too slow"
[ "$(grep -c '^fault' "$out")" = 0 ] && grep -q '^done$' "$out"
