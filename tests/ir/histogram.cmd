# Histograms: one pass over the data, whichever way they are written.
. ./count.sh
v='is=[1,3,1,0,2] vs=[0.1,0.2,0.3,0.4,0.5]'
for entry in gather replace accumulate; do show histogram.ir $entry m=4 $v; done
show histogram.ir ranks m=4 'is=[1,3,1,0,2]'
show histogram.ir rows m=4 'is=[1,3,1,0,2]' "x=$(array 5 2)"
for n in 10 100; do
    for m in 5 50; do
        for entry in gather replace accumulate; do
            count "n = $n, m = $m" "$n $((3 * n)) $((m + n)) 0" histogram.ir $entry m=$m "is=$(indices $n $m)" "vs=$(array $n)"
        done
        count "n = $n, m = $m" "$n $((2 * n)) $((m + 2 * n)) 0" histogram.ir ranks m=$m "is=$(indices $n $m)"
        count "n = $n, m = $m, d = 4" "$((5 * n)) $((9 * n)) $((4 * m + 4 * n)) 0" \
            histogram.ir rows m=$m "is=$(indices $n $m)" "x=$(array $n 4)"
    done
done
