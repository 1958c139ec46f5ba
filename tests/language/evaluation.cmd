sh each.sh evaluation.fsm --interp -Wno-unused-let
