for entry in derivative reverse; do sh ../derive.sh example7.fsm $entry v1=[1,2,3] v2=[4,5,6] || exit; done
