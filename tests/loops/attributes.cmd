fsmc --threads=4 --emit=loops -o - attributes.fsm | grep -E '^loops|for |new ' | grep -v otherwise
fsmc --explain=schedule,loops --emit=loops -o /dev/null attributes.fsm 2>&1 | grep -F '#['
sed 's/#\[[a-z]*\( [0-9]*\)*\] *//' attributes.fsm | sed 's/#\[[a-z]*\( [0-9]*\)*\] *//' >"$FSMC_TEST_TMP/plain.fsm"
grep -c '#\[' "$FSMC_TEST_TMP/plain.fsm"
x='x=[[0.5,1,-1,2,0.25],[3,0.125,1,2,1]]' v='x=[0.5,1,-1,2,0.25,3,1,2,3,4,5]'
for file in attributes.fsm "$FSMC_TEST_TMP/plain.fsm"; do
    for f in inner none; do fsmc run $file $f "$x"; done
    for f in gradient gradientOne tangents fused shared stored storedGradient; do fsmc run $file $f "$v"; done
    fsmc run $file small 'x=[1,2,3]'
    for f in rowSums squares; do fsmc run $file $f 'a=[[1,2,3,4,5,6,7,8,9,10],[3,4,5,6,7,1,2,3,4,5],[5,6,-7,1,2,3,4,5,6,7],[2,5,6,-7,1,2,3,4,5,6]]'; done
    fsmc run $file pairs 'a=[[1,2],[3,4],[5,6]]' 'x=[1,-1]'
    fsmc run $file product 'a=[[1,2],[3,4],[5,6]]' 'b=[[1,2],[3,4],[5,6],[7,8]]'
done | sed -E "s/([0-9]\.[0-9]{9})[0-9]*/\1/g" >"$FSMC_TEST_TMP/values"
awk '{ v[NR] = $0 } END { for (i = 1; i <= NR / 2; i++) print (v[i] == v[i + NR / 2] ? "same " : "differ ") v[i] }' "$FSMC_TEST_TMP/values"
# The textual form has attributes, too.
fsmc --emit=ir -o "$FSMC_TEST_TMP/a.ir" attributes.fsm
fsmc --emit=ir -o - "$FSMC_TEST_TMP/a.ir" | cmp - "$FSMC_TEST_TMP/a.ir" && echo the same text
