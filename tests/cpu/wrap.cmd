for k in 9223372036854775807 -9223372036854775808 4611686018427387904 1; do
    for e in between magnitude clamped halved window both added scaled below; do
        for level in 0 2; do echo "$e $k: $(fsmc run -O$level wrap.fsm $e 'y=[1,2,3]' k=$k 2>&1)"; done
    done
done
fsmc run wrap.fsm place 'x=[1,2,3,4]' 'c=[]' 2>&1
