# --debug-nan names the line of the primal whose derivative makes the first NaN, in reverse sweeps of loops too.
file=nan_reverse.fsm
. ./nan.sh
hows='--exec -O2 --fp=precise'
for x in 0 -1; do
    for entry in powerInFold whileLoopPower second captured state nested arrayState tangent unneeded; do nan $entry x=$x n=2; done
    for entry in hessians custom infinities; do nan $entry x=$x; done
    for entry in poleInFold jacobians reduced bracketed; do nan $entry "x=[1,$x,1]"; done
done
nan passed x='"NaN"' n=2
