for when in auto always never; do
    for e in proved unknown; do echo "$when $e: $(fsmc --check-bounds=$when --emit=loops --entry=$e check_bounds.fsm | grep -c 'else 3')"; done
    fsmc run --check-bounds=$when check_bounds.fsm proved 'x=[1,2,3]'
    fsmc run --check-bounds=$when check_bounds.fsm unknown 'x=[1,2,3]' i=1
    fsmc run --check-bounds=$when --exec check_bounds.fsm unknown 'x=[1,2,3]' i=3
done
fsmc run --check-bounds=always check_bounds.fsm unknown 'x=[1,2,3]' i=3
fsmc run --check-bounds=sometimes check_bounds.fsm unknown 'x=[1,2,3]' i=3
