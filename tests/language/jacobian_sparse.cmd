# Every line `// run: ENTRY ARGUMENTS`, compiled; and by the interpreter, which must agree.
sed -n 's/^\/\/ run: //p' jacobian_sparse.fsm | while read -r run; do
    printf '%s: ' "$run"
    compiled=$(fsmc run jacobian_sparse.fsm $run)
    echo "$compiled"
    [ "$(fsmc run --interp jacobian_sparse.fsm $run)" = "$compiled" ] || echo "the interpreter gives something else"
done
fsmc check --explain=derivatives jacobian_sparse.fsm 2>&1 | sed -n 's/.*a row/a row/p' | grep -E "(centred|first|tupleArguments|unread|constant|tupleResults|pastLoop|scalars)\)"
