# Multiplications: 6 * 4 + 6 of q, exp 12 (d = 3, n = 4).
q='q=[[1, 0, 0], [0.5, 2, 0], [0.25, 0.125, 3]]' c='c=[0.1, 0.2, 0.3]' x='x=[[1, 0, 0.5], [0, 1, 0.25], [0.5, 0.5, 0], [0.25, 0, 1]]'
digits() { sed -E 's/([0-9]\.[0-9]{11})[0-9]*/\1/g'; } # the last ones depend on the machine
for e in centre direct; do fsmc run product.fsm $e "$q" "$c" "$x"; fsmc run --fp=precise product.fsm $e "$q" "$c" "$x"; done | digits
for e in centre direct; do fsmc cost product.fsm $e "$q" "$c" "$x"; fsmc cost --disable-rule=sum_product product.fsm $e "$q" "$c" "$x"; done
a='a=[[1, 2], [3, 4]]' b='b=[[0.5, 1], [0, 2]]'
fsmc run product.fsm chain "$a" "$b"
fsmc --explain=rules -o /dev/null --emit=loops --entry=chain product.fsm 2>&1 | grep -c sum_product || :
