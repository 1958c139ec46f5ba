for f in power powerPlain powerGrad powerGradPlain; do
    fsmc run reassociate.fsm $f x=0.75 n=40 | cut -c 1-14
    fsmc cost reassociate.fsm $f x=0.75 n=40
done
for f in descent descentPlain; do
    fsmc run reassociate.fsm $f 'x=[1, 2, 3, 0.5]' 'y=[1, 3, 2, 1]' | cut -c 1-14
    fsmc cost reassociate.fsm $f 'x=[1, 2, 3, 0.5]' 'y=[1, 3, 2, 1]'
done
