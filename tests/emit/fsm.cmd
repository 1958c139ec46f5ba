# The printed program gives what the program gives, and is printed as itself.
emitted=$FSMC_TEST_TMP/emitted.fsm
fsmc --emit=fsm -o "$emitted" fsm.fsm && cat "$emitted" || exit
fsmc --emit=fsm -o - "$emitted" | diff "$emitted" -
while read -r call; do
    [ -n "$call" ] || continue
    want=$(fsmc run fsm.fsm $call) got=$(fsmc run "$emitted" $call)
    [ -n "$want" ] && [ "$want" = "$got" ] || echo "$call: $want, but the printed program gives $got"
done < fsm.calls
