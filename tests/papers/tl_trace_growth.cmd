sh growth.sh tl_trace.fsm eyeAdjoint x=5 da=square || exit
sh growth.sh tl_trace.fsm gradient w=vector x=5 || exit
sh growth.sh tl_trace.fsm weighted w=vector x=5 || exit
sh growth.sh tl_trace.fsm traces x=vector
