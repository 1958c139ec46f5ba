sh derive.sh tl_trace.fsm traceAdjoint a=[[1,2],[3,4]] dx=5 || exit
sh derive.sh tl_trace.fsm eyeAdjoint x=5 da=[[1,2],[3,4]] || exit
sh derive.sh tl_trace.fsm gradient w=[1,2,3] x=5 || exit
sh derive.sh tl_trace.fsm weighted w=[1,2,3] x=5 || exit
sh derive.sh tl_trace.fsm traces x=[1,2,3]
