sh ../derive.sh example4.fsm derivative x=2 y=3 || exit
for entry in functional mixed dual; do sh ../derive.sh example4.fsm $entry x=2 || exit; done
