# Each plan gives the same derivative; undoing costs an iteration the same, however many there are.
for plan in all chosen square cube binomial64K binomial4K binomial512; do
    fsmc run -O1 "$FSMC_ROOT/bench/checkpoints/plans.fsm" $plan x=0.5 n=20000
done | uniq -c
fsmc run --interp "$FSMC_ROOT/bench/checkpoints/plans.fsm" undo 'a=[0.1, 0.9, 0.3]' x=0.5 n=10
fsmc run -O1 "$FSMC_ROOT/bench/checkpoints/plans.fsm" undo 'a=[0.1, 0.9, 0.3]' x=0.5 n=10
fsmc cost "$FSMC_ROOT/bench/checkpoints/plans.fsm" undo 'a=[0.1, 0.9, 0.3]' x=0.5 n=10
fsmc cost "$FSMC_ROOT/bench/checkpoints/plans.fsm" undo 'a=[0.1, 0.9, 0.3]' x=0.5 n=20
