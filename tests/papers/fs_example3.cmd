sh derive.sh fs_example3.fsm derivative a=2 b=3
