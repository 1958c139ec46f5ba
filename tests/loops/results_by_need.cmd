# A loop that may fail is run once, whichever of its results are needed where: 3 calls in each of its 41 iterations. Numbers of
# every engine; and fewer lines than if each result had a loop of its own.
for w in '[]' '[3,3]' '[0,1,2,0,1,2]'; do
    echo "$w" $(fsmc cost results_by_need.fsm chosen x=0.3 "which=$w" | grep -o '"call": [0-9]*')
    for e in chosen slope outer outerSlope; do
        for how in --interp --exec -O0 -O2 "-O1 --fp=precise --threads=2"; do
            fsmc run $how results_by_need.fsm $e x=0.3 "which=$w" | cut -c1-12
        done | uniq | sed "s/^/$e $w /"
    done
done
lines() { fsmc --entry="$1" --emit=loops results_by_need.fsm | wc -l; }
[ "$(lines slope)" -le 1500 ] || echo "slope: $(lines slope) lines"
[ "$(lines outerSlope)" -le 13000 ] || echo "outerSlope: $(lines outerSlope) lines"
for w in '[3,3,3]' '[0,0,0]' '[0,1,0]'; do
    echo "dear $w" $(fsmc cost results_by_need.fsm dear x=0.3 "which=$w" | grep -o '"call": [0-9]*')
done
for how in --interp -O0 -O2; do
    for at in 2 9; do
        fsmc run $how results_by_need.fsm begun x=0.3 'which=[0,2,0]' at=$at 2>&1
        fsmc run $how results_by_need.fsm begun x=0.3 'which=[0,1,0]' at=$at 2>&1
    done
done | sed 's/^.*fsm:/fsm:/' | sort | uniq -c | sed 's/^ *//'
