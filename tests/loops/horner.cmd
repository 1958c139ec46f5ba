# Sums and products of numbers before and after, and results.
count() { fsmc --emit=loops --entry=$2 --fp=$1 horner.fsm | sed '/ otherwise {$/q' | grep -cE ' = (-?[a-z0-9.+]+ [-+*] -?[a-z0-9.+-]+|-t[0-9]+)$'; }
x='x=[0.5, -1.25, 3, 1.2500001, 1e-3]'
for e in value derivative gradient narrow twice needed roots unknown square both vanishes large small; do
    case $e in gradient | narrow) with='dy=[1, 2, -1, 0.5, 3]' ;; unknown) with=a=0.75 ;; both) with='y=[2, 0.1, -3, 4, 1]' ;; *) with= ;; esac
    echo "$e: $(count contract $e) $(count fast $e)"
    for how in --exec --fp=fast '--fp=fast --exec'; do fsmc run $how horner.fsm $e "$x" ${with:+"$with"} | sed -E 's/([0-9]\.[0-9]{5})[0-9]*/\1/g'; done | uniq -c
done
