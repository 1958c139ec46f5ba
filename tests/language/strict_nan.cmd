sh each.sh strict_nan.fsm --strict-nan --interp
sh each.sh strict_nan.fsm --strict-nan --fp=precise
for e in --interp -O2; do
    for s in --strict-nan -O2; do fsmc run $s $e strict_nan.fsm inLoops 'x=[4,0,1]'; done
done
