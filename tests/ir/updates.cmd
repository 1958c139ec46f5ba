# What a step changes is all that is touched; what it needs of the old array is read before it is overwritten.
. ./count.sh
show updates.ir swap 'a=[1,2,3,4]' 'p=[0,1,2]' 'q=[3,1,0]'
show updates.ir combine 'a=[[1,2],[4,8]]' 'p=[0,1,0]' 'q=[1,0,0]'
show updates.ir scan 'a=[1,2,3,4]'
show updates.ir diagonal 'a=[[1,2],[3,4]]' 'x=[1,0.5]'
show updates.ir rotate 'a=[1,2,3,4]' 'x=[1,2]'
show updates.ir zero 'a=[1,2,3]' 'x=[-1,1,-1]'
show updates.ir normalise 'a=[[1,2],[3,5]]' 'w=[1,1]' 'is=[1,1]'
show updates.ir keep_diagonal 'a=[[1,2],[3,5]]'
show updates.ir leapfrog 'x=[1,2]' 'v=[0,1]' 'h=[0.5,0.25]'
for n in 5 50; do
    m=7
    count "n = $n" "$m $((n + 4 * m)) $((n + 2 * m)) 0" updates.ir swap "a=$(array $n)" "p=$(indices $m $n)" "q=$(indices $m 3)"
    count "n = $n" "$((m + 3 * m)) $((3 * n + 2 * m + 6 * m)) $((3 * n + 3 * m)) 0" \
        updates.ir combine "a=$(array $n 3)" "p=$(indices $m $n)" "q=$(indices $m 3)"
    count "n = $n" "$n $((3 * n - 2)) $((2 * n - 1)) 0" updates.ir scan "a=$(array $n)"
    count "n = $n" "$((m + n * m)) $((n * n + m + n * m)) $((n * n + n * m)) 0" updates.ir diagonal "a=$(array $n $n)" "x=$(array $m)"
    count "n = $n" "$((m + n * m)) $((n + m + n * m)) $((n + n * m)) $((8 * n))" updates.ir rotate "a=$(array $n)" "x=$(array $m)"
    count "n = $n" "$((m + n * m)) $((2 * n + m + 2 * n * m)) $((2 * n + 2 * n * m)) 0" \
        updates.ir leapfrog "x=$(array $n)" "v=$(array $n)" "h=$(array $m)"
done
