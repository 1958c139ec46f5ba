sh each.sh expressions.fsm --interp
