for e in windows squares guarded other; do
    echo $e:
    fsmc --emit=loops --fp=fast --target-cpu=x86-64-v3 --entry=$e -o - if_convert.fsm | sed '/otherwise/,$d' | grep -E 'for |if |-0\.0|\+='
done
echo without the pass: $(fsmc --disable-pass=if_convert --emit=loops --entry=squares -o - if_convert.fsm | sed '/otherwise/,$d' | grep -c 'if ')
x='x=[[1,2,3,3,0,-1],[4,4,3,2,8,1],[1,1,9,2,5,-2],[1,1,2,-4,4,3],[1,2,3,4,5,6]]'
for how in --interp --exec '--exec --fp=fast' -O2 '-O2 --fp=fast' '-O2 --fp=precise --lanes=2'; do
    say() { fsmc run $how if_convert.fsm "$@" 2>&1 | sed -E 's/(\.[0-9]{8})[0-9]*/\1/g; s/-0\.0/0.0/g'; }
    say windows 'x=[1,2,2,2,4,1,3,-7]' 'w=[1,2,3,4]'
    say squares "$x"
    say guarded 'x=[1,2,3]' 'at=[0,2,2,-1,3,1000000000000,1]'
    say other 'x=[0.1,0.9,0.2,0.3,0.4]' 'y=[1,2,3]'
done | sort | uniq -c
