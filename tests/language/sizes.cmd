sh each.sh sizes.fsm --interp
