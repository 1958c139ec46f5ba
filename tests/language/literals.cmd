sh each.sh literals.fsm --interp
