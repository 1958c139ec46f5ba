# By hand: w; one-hot at the largest; the identity; v.
fsmc run micro.fsm dotProduct v=[1,2,3] w=[4,5,6]
fsmc run micro.fsm largest v=[1,7,3,7]
fsmc run micro.fsm sumOfVectors v=[1,2] w=[4,5]
fsmc run micro.fsm scaled v=[1,2,3] s=9
# The first two cost O(n) although the mode is forward.
for n in 10 100; do
    v=$(seq $n | paste -sd, -)
    fsmc cost micro.fsm dotProduct v=[$v] w=[$v]
done
