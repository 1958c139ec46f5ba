for entry in forward reverse; do sh derive.sh fs_trace.fsm $entry M=[[1,2],[3,4]] || exit; done
