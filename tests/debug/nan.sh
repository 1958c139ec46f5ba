# nan ENTRY NAME=VALUE...: the entry of $file with --debug-nan, by the interpreter; the engines of $hows must say the
# same, in the same place. The operands of a product may stand in another order.
hows='--exec -O0 -O1 -O2 -O3 --fp=fast --fp=precise'
nan() {
    want=$(fsmc run --interp --debug-nan "$file" "$@" 2>&1)
    for how in $hows; do
        got=$(fsmc run $how --debug-nan "$file" "$@" 2>&1)
        [ "$(echo "$got" | sed 's/: [^ ]* \* .*//')" = "$(echo "$want" | sed 's/: [^ ]* \* .*//')" ] || echo "    $how: $got, not $want"
    done
    echo "$1: $want"
}
