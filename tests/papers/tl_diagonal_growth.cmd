for entry in value gradient; do sh growth.sh tl_diagonal.fsm $entry x=vector || exit; done
