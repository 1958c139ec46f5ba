sh each.sh arrays.fsm --interp
