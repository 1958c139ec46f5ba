sh each.sh differentiation.fsm --interp -Wno-cut-derivative
