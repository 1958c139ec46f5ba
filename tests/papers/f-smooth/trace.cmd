for entry in forward reverse; do sh ../derive.sh trace.fsm $entry M=[[1,2],[3,4]] || exit; done
