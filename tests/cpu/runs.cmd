# The same with any number of lanes, for counts with and without a rest, and the same error.
. ./engines.sh
numbers() { awk -v p="$1" 'BEGIN { for (o = 0; o < p; o++) printf "%s%s", o ? "," : "[", o * 0.37 - 2; print p ? "]" : "[]" }'; }
pairs() { awk -v p="$1" -v bad="$2" 'BEGIN { for (o = 0; o < p; o++) printf "%s[%d,%d]", o ? "," : "[", o == bad ? 9 : o * 7 % 3, o % 4; print "]" }'; }
cams='cams=[[0.1,0.2,0.3,1,2],[0,0,0.4,3,4],[-0.3,0.1,2,5,6]]'
points='points=[[1,2],[3,-1],[0.5,0.25],[-2,0.125]]'
try() { # HOW... -- ENTRY NAME=VALUE...
    ways=
    while [ "$1" != -- ]; do ways="$ways $1"; shift; done
    shift
    want=$(fsmc run --interp runs.fsm "$@" 2>&1 | rounded)
    for how in $ways; do
        got=$(fsmc run $(echo $how | tr + ' ') runs.fsm "$@" 2>&1 | rounded)
        [ "$got" = "$want" ] || echo "$how $1: $got, not $want"
    done
}
for p in 0 1 2 3 4 5 7 8 9 13 16 17; do
    try --lanes=4 --lanes=8 -- rows "x=$(numbers $p)"
    try --lanes=4 --lanes=8 -- covered "x=$(numbers $p)"
done
all='--lanes=0 --lanes=2 --lanes=4+--fp=precise --lanes=8+--fp=fast --lanes=8+--threads=2 --exec -O0'
try $all -- rows "x=$(numbers 11)"
try $all -- covered "x=$(numbers 11)"
try $all -- added "x=$(numbers 11)" k=3
try $all --lanes=8 -- sparse "$cams" "$points" "obs=$(pairs 11 -1)"
try --lanes=4 --lanes=8 -- sparse "$cams" "$points" "obs=$(pairs 8 -1)"
for p in 5 8 11; do
    try --lanes=2 --lanes=4 --lanes=8 -- kinds "x=$(numbers $p)" "k=$(awk -v p=$p 'BEGIN { for (o = 0; o < p; o++) printf "%s%d", o ? "," : "[", o * 7 % 5; print "]" }')"
done
table() { awk -v n="$1" -v k="$2" 'BEGIN { for (i = 0; i < n; i++) { printf i ? ",[" : "[["; for (j = 0; j < k; j++) printf "%s%s", j ? "," : "", i * 0.3 - j * 0.17; printf "]" } print "]" }'; }
cubes() { for i in 1 2 3 4; do printf '%s%s' "$([ $i = 1 ] && echo '[' || echo ,)" "$(table 2 5 | sed "s/0.17/0.$i/g")"; done; echo ']'; }
for p in 4 7 8 11 16; do
    obs=$(awk -v p=$p 'BEGIN { for (o = 0; o < p; o++) printf "%s%d", o ? "," : "[", o * 5 % 4; print "]" }')
    try --lanes=4 --lanes=8 -- gathered "rows=$(table 4 9)" "cubes=$(cubes)" "obs=$obs"
done
for bad in 0 12; do
    for how in --lanes=0 --lanes=8 --exec; do fsmc run $how runs.fsm sparse "$cams" "$points" "obs=$(pairs 17 $bad)" 2>&1; done
done | sort | uniq -c | sed 's/^ *//'
fsmc run runs.fsm covered "x=$(numbers 3)" | rounded
fsmc --emit=loops -o - runs.fsm | awk '/^loops/ { on = /covered|added|sparse|gathered/ && !/otherwise/ } on' | grep -E '^loops|for |out.*=' | sed 's/_[0-9]*//g; s/\bt[0-9][0-9]*\b/t/g'
# Rows of results that lie side by side are asked for, each line once.
for e in sparse rows; do
    echo "$e: $(fsmc --fp=fast --lanes=8 --target-cpu=x86-64-v4 --emit=llvm -O2 --entry=$e runs.fsm -o - | grep -c 'call void @llvm.prefetch') lines asked for"
done
