sh each.sh functions.fsm --interp
