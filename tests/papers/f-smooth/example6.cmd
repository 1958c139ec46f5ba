for entry in identity sums; do sh ../derive.sh example6.fsm $entry v=[1,2,3] || exit; done
