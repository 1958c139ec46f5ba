sh each.sh brackets.fsm --interp
