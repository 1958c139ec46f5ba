sh each.sh kinks.fsm --interp -Wno-cut-derivative
