# The code of a value by need stands once more, whatever needs it: as many lines for each loop more. Numbers and errors of every engine.
lines() { fsmc --entry="$1" --emit=loops by_need_chain.fsm | wc -l; }
two=$(lines two) four=$(lines four) eight=$(lines eight) slopes=$(lines slopes)
[ $(((eight - four) * 10)) -le $(((four - two) * 21)) ] && echo "loops: linear" || echo "loops: $two $four $eight lines"
[ "$slopes" -le 6000 ] || echo "slopes: $slopes lines"
fsmc --entry=four --emit=loops by_need_chain.fsm | grep -c '^  proc' | awk '{ print ($1 > 10 ? "procedures" : "none") }'
run() {
    for how in --interp --exec -O0 -O2 "-O1 --fp=precise --threads=2"; do
        fsmc run $how by_need_chain.fsm "$@" 2>&1 | sed 's/\(\.[0-9]\{7\}\)[0-9]*/\1/g; s/^.*fsm:[0-9]*: //'
    done | uniq
}
run two 'x=[0.5, -1, 2, 0.25, 1]'
for e in eight nine; do
    for how in --interp --exec; do fsmc run $how by_need_chain.fsm $e 'x=[0.5, -1, 0.25]' | sed 's/\(\.[0-9]\{7\}\)[0-9]*/\1/g'; done | uniq
done
run arrays n=3 c=1 'x=[0.5, -2, 0.75]'
run arrays n=3 c=5 'x=[0.5, -2, 0.25]'
run arrays n=0 c=5 'x=[]'
run slopes c=1 'x=[0.5, -2, 0.75]'
run slopes c=3 'x=[0.5, -2, 0.25]'
run slopes c=3 'x=[]'
