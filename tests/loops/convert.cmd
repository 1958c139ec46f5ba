# Of each entry: the arrays besides the result, conversions, and checks, before the body for sizes of 0.
loops() { fsmc --emit=loops --entry=$1 convert.fsm | sed '/ otherwise {$/q' | grep -oE 'new b[0-9]+: i64|= i32|check .* 20 ' | sed 's/b[0-9]*: i64/array of Ints/; s/= i32/conversion/; s/check.*/check/' | sort | uniq -c; }
for e in pieces columns overwritten added; do echo "$e"; loops $e; done
all() { for how in --exec --lanes=0 --lanes=4 --lanes=8; do fsmc run $how convert.fsm "$@" 2>&1; done | sort | uniq -c; }
all pieces 'x=[1, 2, -715827883]' k=7
all pieces 'x=[1, 2, 715827883]' k=7
all pieces 'x=[1, 2, 3]' k=-2147483649
all columns 'at=[0, 3, 1, 2, 2]' 'x=[1, 2, 3, 4, 5, 6]'
# What is overwritten need not fit.
all overwritten n=2 'x=[3000000000, 1, -3000000000, 4, 5]'
all overwritten n=2 'x=[1, 2, 3000000000]'
all added m=2 'bin=[0, 1, 0]' 'x=[3000000000, 7, -3000000000]'
all added m=2 'bin=[0, 1, 1]' 'x=[1, 2147483647, 1]'
