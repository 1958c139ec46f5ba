# Sourced by the tests of bench/coarsening: `make PROGRAM ENTRY SIZE=N…` makes data, `same PROGRAM ENTRY ARGUMENT…` compares
# what compiled code gives with what the interpreter gives for the program as written, and `right PROGRAM ENTRY ARGUMENT…`
# checks the derivatives of an entry against differences. `counts PROGRAM ENTRY ARGUMENT…` counts.
. "$FSMC_ROOT/bench/common.sh"
cd "$FSMC_ROOT/bench/coarsening"

make() { fsmc run "$1.fsm" "$2" -o "$FSMC_TEST_TMP/$2.npy" "$3" ${4:+"$4"}; }

same() {
    program=$1
    shift
    for how in --interp -O2 '-O2 --fp=fast'; do
        fsmc run $how "$program.fsm" "$@" >"$FSMC_TEST_TMP/got" 2>&1
        [ "$how" = --interp ] && mv "$FSMC_TEST_TMP/got" "$FSMC_TEST_TMP/want" || near "$FSMC_TEST_TMP/want" "$FSMC_TEST_TMP/got" 9 || {
            echo "$1 by $how:"
            cat "$FSMC_TEST_TMP/got"
        }
    done
    printf '%s ' "$1" && rounded <"$FSMC_TEST_TMP/want"
}

counts() {
    program=$1
    shift
    for how in '' --fp=fast; do echo "$1 $how" "$(fsmc cost $how "$program.fsm" "$@")"; done
}

right() {
    program=$1
    shift
    fsmc gradcheck --trials=1 "$program.fsm" "$@" 2>&1 | sed -E 's/; worst .*//; s/(agree to) .*/\1 _/'
}

# Numbers with six digits; beyond, machines differ.
rounded() {
    awk '{
        out = ""
        while (match($0, /-?[0-9]+(\.[0-9]+(e[-+]?[0-9]+)?|e[-+]?[0-9]+)/)) {
            out = out substr($0, 1, RSTART - 1) sprintf("%.6g", substr($0, RSTART, RLENGTH))
            $0 = substr($0, RSTART + RLENGTH)
        }
        print out $0
    }'
}
