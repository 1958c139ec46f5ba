# Indices that are kept inside of an array need no check where an element of it has an index; elsewhere they do, and fail.
. ./engines.sh
for e in before after both corners slope products other first; do
    echo "$e: $(fsmc clamped.fsm --emit=loops --entry=$e -o - | grep -c '^ *check .* out of range') checks of indices"
done
for x in '[]' '[2.5]' '[0.5,-1,2,0.25,3]'; do
    for e in before after both slope; do check clamped.fsm $e "x=$x"; done
done
for a in '[[],[]]' '[[1.5]]' '[[0.5,2,3],[-1,0.25,4]]'; do
    for e in corners products; do check clamped.fsm $e "a=$a"; done
done
check clamped.fsm other 'x=[1,2]' 'y=[3]'
check clamped.fsm other 'x=[]' 'y=[]'
fails clamped.fsm other 'x=[1]' 'y=[]'
fails clamped.fsm other 'x=[1,2,3]' 'y=[3]'
check clamped.fsm first 'x=[1,2]' 'k=-5'
fails clamped.fsm first 'x=[1,2]' 'k=2'
fails clamped.fsm first 'x=[]' 'k=-1'
