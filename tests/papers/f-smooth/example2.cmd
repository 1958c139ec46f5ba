for entry in derivative byDiff; do sh ../derive.sh example2.fsm $entry a=0.5 || exit; done
