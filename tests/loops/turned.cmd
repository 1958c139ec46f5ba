fsmc --emit=loops --fp=fast -o - turned.fsm | sed '/otherwise/,$d' | grep -E '^loops|for | new |cos|sin|\[.*\] = '
fsmc --explain=schedule --fp=fast --emit=loops -o /dev/null turned.fsm 2>&1 | grep 'goes inside'
x='x=[0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1,1.1,1.2,1.3,1.4,1.5,1.6,1.7,1.8,1.9,2]'
for how in --interp '-O2 --fp=precise' '-O2 --fp=fast'; do
    fsmc run $how turned.fsm columns "$x" 'up=[0,1,0,3]' 'bones=[3,1,2]' 'weights=[1,2,3]' 2>&1 | sed -E 's/(\.[0-9]{12})[0-9]*/\1/g; s/-?0\.0, //g'
    fsmc run $how turned.fsm columns "$x" 'up=[0,1,0,3]' 'bones=[3,4,2]' 'weights=[1,2,3]' 2>&1
    fsmc run $how turned.fsm columns "$x" 'up=[0,9,0,3]' 'bones=[3,4,2]' 'weights=[1,2,3]' 2>&1
done
# How many directions there are is known: whole vectors of them need no masks.
fsmc --emit=llvm --fp=fast --target-cpu=x86-64-v3 -o - turned.fsm | grep -c 'call.*masked' || true
