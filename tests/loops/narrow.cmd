for f in light heavy; do
    fsmc --emit=loops --fp=fast --target-cpu=x86-64-v3 --entry=$f -o - narrow.fsm | sed '/otherwise/,$d' | grep -E '^loops|for |if | new |fill|check|i64|\[.*\] = '
    for fp in fast contract; do
        fsmc --explain=schedule --fp=$fp --entry=$f --emit=loops -o /dev/null narrow.fsm 2>&1 | grep 'few of its'
    done
done
x='x=[0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1,1.1,1.2,1.3,1.4,1.5,1.6,1.7,1.8,1.9,2]'
# Fingers of four bones, and one finger that hangs on another; points of one bone, of neighbours, of bones far apart, and of the root.
up='up=[0,1,2,3,0,5,6,7,0,9,10,11,4,13,14,15,0,17,18,19]'
rest='rest=[1,2,3,4,5,6]'
at='starts=[0,1,3,5,6,7,8]'
weights='weights=[1,2,3,4,5,6,7,8]'
echo cache 1024 > "$FSMC_TEST_TMP/small"
for f in light heavy; do
    for how in --interp '-O2 --fp=precise' '-O2 --fp=fast' '-O2 --fp=fast --lanes=8' '-O2 --fp=fast --lanes=2' "-O2 --fp=fast --machine=$FSMC_TEST_TMP/small"; do
        fsmc run $how narrow.fsm $f "$x" "$up" "$rest" "$at" 'bones=[4,9,10,1,20,0,16,2]' "$weights" 2>&1 | sed -E 's/(\.[0-9]{8})[0-9]*/\1/g; s/-?0\.0/0/g; s/(0, )*0\]/]/g; s/0, 0, /, /g'
    done
done
# What none of the directions changes is checked as well.
for how in --interp '-O2 --fp=fast'; do
    fsmc run $how narrow.fsm light "$x" "$up" "$rest" "$at" 'bones=[4,9,10,1,20,21,16,2]' "$weights" 2>&1
    fsmc run $how narrow.fsm light "$x" 'up=[0,-1,0]' 'rest=[1]' 'starts=[0,1]' 'bones=[1]' 'weights=[1]' 2>&1
done
