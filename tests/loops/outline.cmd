# Nests that do the same are calls of a procedure: fewer lines, the same numbers. Those of `slope` are in loops, and it is
# short: they stay.
for e in slope curvature; do
    with=$(fsmc --entry=$e --emit=loops outline.fsm | wc -l) without=$(fsmc --entry=$e --emit=loops --disable-pass=outline outline.fsm | wc -l)
    [ $((with * 100)) -le $((without * 92)) ] && echo "$e: fewer lines"
    for how in --interp --exec -O0 "-O0 --disable-pass=outline" -O2 "-O3 --fp=fast" "--fp=precise --threads=2"; do
        fsmc run $how outline.fsm $e x=0.3 n=7 | cut -c1-14
    done | uniq
done
fsmc --entry=nests --emit=loops outline.fsm | grep -c '^  proc\|^  call'
for how in --interp --exec -O2; do fsmc run $how outline.fsm nests 'x=[0.1,0.2,0.3]' 'y=[1,2]' | sed 's/\(\.[0-9]\{10\}\)[0-9]*/\1/g'; done | uniq
fsmc run outline.fsm nests 'x=[]' 'y=[]'
for run in 1 2 3 4 5 6; do fsmc --entry=pairs --emit=loops outline.fsm | cksum; done | uniq | wc -l
