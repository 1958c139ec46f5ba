for entry in identity inlined; do sh ../derive.sh example5.fsm $entry M=[[1,2,3],[4,5,6]] || exit; done
