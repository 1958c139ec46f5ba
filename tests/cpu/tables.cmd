. ./engines.sh
for entry in around adjoint backwards beyond few below; do
    echo "$entry: $(fsmc --emit=loops --entry=$entry tables.fsm -o - | grep -c '^ *check .* out of range') checks"
done
for entry in around adjoint backwards; do check tables.fsm $entry x=[1,2,4,8] n=6; done
check tables.fsm beyond x=[1,2,4,8] n=2
fails tables.fsm beyond x=[1,2,4,8] n=3
check tables.fsm few x=[1,2,4] n=1
fails tables.fsm few x=[1,2,4] n=3
fails tables.fsm below x=[1,2,4,8] n=6
