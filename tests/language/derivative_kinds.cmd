# The types of results, and their values by the interpreter; those of compiled code and of loop trees must be the same.
f=derivative_kinds.fsm
for entry in $(sed -n 's/^entry \([a-z]*\) .*/\1/p' $f); do
    case $entry in
    scalars) set -- x=3 f=0.5 ;;
    pairs) set -- f=0.5 ;;
    nested) set -- 'f=[0.5, 2]' ;;
    *) set -- 'x=[3, 4]' 'f=[0.5, 2]' ;;
    esac
    echo "$entry: $(fsmc --emit=manifest --entry=$entry $f | sed -n 's/^ *"result": "\(.*\)",$/\1/p')"
    fsmc run --interp $f $entry "$@" >"$FSMC_TEST_TMP/out" && cat "$FSMC_TEST_TMP/out"
    for how in --exec -O0 -O2; do fsmc run $how $f $entry "$@" | diff "$FSMC_TEST_TMP/out" -; done
done
