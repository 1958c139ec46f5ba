# Results, and how many stores of vectors there are.
all() { for how in --exec -O0 --lanes=0 --lanes=2 --lanes=4 --lanes=8 '--lanes=4 --target-cpu=baseline'; do fsmc run $how stores.fsm "$@" 2>&1; done | sort | uniq -c; }
for e in columns narrow; do all $e 'at=[0, 3, 1, 2, 2]' 'x=[1, 2, 3, 4, 5, 6]'; done
all few 'x=[3, -4, 9000000000000000000]' k=1
all fewNarrow 'x=[3, -4, 2147483640]' k=2147483646
all fewNarrow 'x=[3, -4, 2147483641]' k=5
all fewNarrow 'x=[3, -4, 5]' k=-2147483644
all many 'x=[3, -4, 5]' k=2
for e in turned sums; do all $e 'x=[1, 2, 3, 4]' n=5; done
for e in columns narrow few many turned sums; do
    echo "$e $(fsmc --emit=llvm -O2 --target-cpu=baseline --lanes=4 --entry=$e stores.fsm | grep -oE 'store <[0-9]+ x i(32|64)>' | sort | uniq -c | tr -s ' \n' ' ')"
done
