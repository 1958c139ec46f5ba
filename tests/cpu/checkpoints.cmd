for n in 0 1 2 10 300; do
  echo "n = $n"
  for e in all two three four least limit plain; do
    fsmc run --exec checkpoints.fsm $e x=0.75 n=$n
  done | uniq -c
  for e in all two three four least limit; do echo "$e: $(fsmc cost checkpoints.fsm $e x=0.75 n=$n | sed 's/.*"iter/"iter/')"; done
done
fsmc run --tape-limit=1K --exec checkpoints.fsm plain x=0.75 n=300
fsmc cost --tape-limit=1K checkpoints.fsm plain x=0.75 n=300 | sed 's/.*"iter/"iter/'
fsmc run --tape-limit=1 checkpoints.fsm plain x=0.75 n=300; echo "exit $?"
echo 'as without checkpoints:'
for e in both second nested; do
  fsmc run --exec checkpoints.fsm $e x=0.75 n=11; fsmc run --exec --disable-pass=checkpoint checkpoints.fsm $e x=0.75 n=11
done
fsmc run --exec checkpoints.fsm rows 'x=[1,2,3]' n=11; fsmc run --exec --disable-pass=checkpoint checkpoints.fsm rows 'x=[1,2,3]' n=11
fsmc run --exec checkpoints.fsm counted x=0.9; fsmc run --exec --disable-pass=count --disable-pass=checkpoint checkpoints.fsm counted x=0.9
fsmc cost checkpoints.fsm counted x=0.9 | sed 's/.*"iter/"iter/'
for o in --tape-limit=300 "--disable-pass=count --disable-pass=checkpoint"; do
  fsmc run --exec $o checkpoints.fsm counted_inside x=0.9 n=20; fsmc cost $o checkpoints.fsm counted_inside x=0.9 n=20 | sed 's/.*"iter/"iter/'
done
fsmc --explain=loops --emit=ir checkpoints.fsm 2>&1 >/dev/null | grep checkpoint:
