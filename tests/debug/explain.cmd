# --explain: what was decided, by topic; nothing without it.
fsmc --explain -o "$FSMC_TEST_TMP/a.o" explain.fsm
echo "only derivatives:"
fsmc check --explain=derivatives explain.fsm
echo "run:"
fsmc run --lanes=0 --explain=memory,derivatives explain.fsm stored 'x=[1,2]'
fsmc run --lanes=0 explain.fsm stored 'x=[1,2]'
fsmc check --explain=loop explain.fsm
