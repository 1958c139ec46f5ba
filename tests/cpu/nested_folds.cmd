. ./engines.sh
check nested_folds.fsm f "x=[1, 2]"
