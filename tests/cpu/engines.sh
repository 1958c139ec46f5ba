# Sourced by the tests: one call, run in every way there is.

# Numbers with a point or an exponent, rounded to ten digits.
rounded() {
    awk '{
        out = ""
        while (match($0, /-?[0-9]+(\.[0-9]+(e[-+]?[0-9]+)?|e[-+]?[0-9]+)/)) {
            x = sprintf("%.10g", substr($0, RSTART, RLENGTH))
            out = out substr($0, 1, RSTART - 1) (x == "-0" ? "0" : x)
            $0 = substr($0, RSTART + RLENGTH)
        }
        print out $0
    }'
}

# check FILE ENTRY [NAME=VALUE]...: prints what the interpreter gives for the program as written, and what another way
# gives if that differs.
check() {
    want=$(fsmc run --interp "$@" 2>&1 | rounded)
    echo "$2 = $want"
    for how in --exec '--exec -O0' -O0 -O1 -O2 -O3 '-O2 --fp=precise' '-O2 --fp=fast'; do
        got=$(fsmc run $how "$@" 2>&1 | rounded)
        [ "$got" = "$want" ] || echo "    $how: $got"
    done
}

# fails FILE ENTRY [NAME=VALUE]...: the same for calls that fail, without the place in the source that compiled code
# names.
fails() {
    for how in --interp --exec '--exec -O0' -O0 -O1 -O2 -O3; do
        got=$(fsmc run $how "$@" 2>&1 | sed 's/: [^ ]*\.fsm:[0-9]*: /: /')
        case $how in
        --interp) want=$got; echo "$2: $want" ;;
        *) [ "$got" = "$want" ] || echo "    $how: $got" ;;
        esac
    done
}
