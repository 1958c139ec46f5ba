# Every entry by the interpreter, one result a line; compiled code must give the same.
for entry in $(sed -n 's/^entry \([A-Za-z0-9_]*\) .*/\1/p' derivative_shapes.fsm); do
    set --
    for p in $(sed -n "s/^entry $entry \(.*\) =.*/\1/p" derivative_shapes.fsm | sed 's/([A-Z][^)]*)//g' | grep -o '([a-z]:' | tr -d '(:'); do
        case $p$entry in
        x*) set -- "$@" x=2 ;;
        y*) set -- "$@" y=3 ;;
        a*) set -- "$@" a=2 ;;
        k*) set -- "$@" k=1 ;;
        b*) set -- "$@" b=true ;;
        v*) set -- "$@" 'v=[1, 3]' ;;
        m*) set -- "$@" 'm=[[1, 2], [3, 4]]' ;;
        ppairs*) set -- "$@" 'p=[[1, 2], [3, 4]]' ;;
        p*) set -- "$@" 'p=[[1, [true, [2, 3]]], [4, [false, [5, 6]]]]' ;;
        esac
    done
    fsmc run --interp -Wno-cut-derivative derivative_shapes.fsm $entry "$@" > "$FSMC_TEST_TMP/out"
    echo "$entry: $(cat "$FSMC_TEST_TMP/out")"
    fsmc run -Wno-cut-derivative derivative_shapes.fsm $entry "$@" | diff "$FSMC_TEST_TMP/out" -
done
