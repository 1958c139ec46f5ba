sh each.sh layout.fsm --interp
