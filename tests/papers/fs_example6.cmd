for entry in identity sums; do sh derive.sh fs_example6.fsm $entry v=[1,2,3] || exit; done
