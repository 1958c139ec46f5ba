. ./engines.sh
check shared_sums.fsm x 'p=[1, 0]' 'q=[1, 2, 3]'
check shared_sums.fsm y 'x=[1, 2, 3]'
