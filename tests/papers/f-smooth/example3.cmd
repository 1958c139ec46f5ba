sh ../derive.sh example3.fsm derivative a=2 b=3
