masked() { fsmc --emit=llvm --fp=fast --target-cpu=$1 --entry=$2 -o - whole_vectors.fsm | grep -c "call.*masked.$3"; }
# With AVX2, what is left is stored without masks, too.
for e in whole rest own; do
    echo "$e: AVX2: loads $(masked x86-64-v3 $e load), stores $(masked x86-64-v3 $e store); AVX-512: stores $(masked x86-64-v4 $e store)"
done
x='0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1,1.1,1.2,1.3,1.4,1.5,1.6,1.7,1.8,1.9,2'
for how in --interp '-O2 --fp=fast --lanes=4' '-O2 --fp=fast --lanes=8'; do
    fsmc run $how whole_vectors.fsm whole "x=[$x]" | sed -E 's/(\.[0-9]{8})[0-9]*/\1/g'
    fsmc run $how whole_vectors.fsm rest "x=[$x,2.1,2.2,2.3,2.4,2.5,2.6]" | sed -E 's/(\.[0-9]{8})[0-9]*/\1/g'
    fsmc run $how whole_vectors.fsm own "x=[$x,2.1,2.2]" k=2 | sed -E 's/(\.[0-9]{8})[0-9]*/\1/g'
done
