for entry in value gradient; do sh derive.sh tl_diagonal.fsm $entry x=[3,4,5] || exit; done
