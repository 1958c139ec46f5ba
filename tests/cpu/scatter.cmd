. ./engines.sh
for how in --interp --exec -O0 -O2; do
    fsmc run $how scatter.fsm counts 'is=[0,2,2,7]' m=3
    fsmc run $how scatter.fsm three 'a=[1,0,1]' 'x=[0,0.5]'
    fsmc run $how scatter.fsm arms 'a=[1,0,1]' 'x=[0,0.5]' y=0.25
    fsmc run $how scatter.fsm arms 'a=[1,0,2]' 'x=[0,0.5]' y=0.25
    fsmc run $how scatter.fsm backwards 'x=[0,0.5]' 'a=[1,0]' 'v=[1,2,3,4,5,6,7,8]'
done 2>&1 | rounded | sort | uniq -c | sed 's/^ *//'
fsmc cost scatter.fsm counts 'is=[0,2,2,7]' m=300
fsmc cost scatter.fsm three 'a=[1,0,1,0,1,0,1,0,1,0]' 'x=[0,0.5]'
fsmc cost scatter.fsm arms 'a=[1,0,1]' 'x=[0,0.5]' y=0.25
fsmc cost scatter.fsm backwards 'x=[0,0.5]' 'a=[1,0]' 'v=[1,2,3,4,5,6,7,8]'
fsmc cost scatter.fsm backwards 'x=[0,0.5]' 'a=[1,0,1,0]' 'v=[1,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8]'
