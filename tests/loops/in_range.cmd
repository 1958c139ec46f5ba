fsmc --emit=loops in_range.fsm | grep -E '^(loops|  *t[0-9]+ = .*( <=? |&&))'
fsmc run in_range.fsm histogram m=4 'bin=[-9223372036854775808, 9223372036854775807, 3, -1, 4, 0]' 'x=[1, 2, 4, 8, 16, 32]'
fsmc run in_range.fsm gather m=2 'bin=[-9223372036854775808, 9223372036854775807, 1, -1, 2, 0]' 'x=[3, 5]'
