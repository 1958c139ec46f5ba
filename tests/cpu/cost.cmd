# Operations of the program, and what its loops execute.
fsmc cost arrays.fsm dot 'x=[1, 2, 3]' 'y=[4, 5, 6]'
echo '{"x": [1, 2, 3, 4], "y": [0, 0, 0, 0]}' | fsmc cost arrays.fsm dot
fsmc cost arrays.fsm transpose 'm=[[1, 2, 3], [4, 5, 6]]'
fsmc cost scalars.fsm maths x=1
fsmc cost failures.fsm pick 'x=[]' k=1
