# Operations and memory grow by the same amount from 10 to 20 elements as, doubled, from 20 to 40.
vector() { awk -v n=$1 'BEGIN { for (i = 0; i < n; i++) printf "%s%g", i ? "," : "[", 0.1 * i + 0.05; print "]" }'; }
rows() { awk -v n=$1 'BEGIN { for (i = 0; i < n; i++) printf "%s[%g,0.2,0.3]", i ? "," : "[", 0.1 * i + 0.05; print "]" }'; }
index() { awk -v n=$1 'BEGIN { for (i = 0; i < n; i++) printf "%s%d", i ? "," : "[", i * 3 % n; print "]" }'; }
for n in 10 20 40; do
    x=$(vector $n) i=$(index $n)
    for e in swap swapAdjoint; do echo "$e $n $(fsmc cost in_place.fsm $e x=$x idx=$i)"; done
    for e in nested nestedGradient conditional; do echo "$e $n $(fsmc cost in_place.fsm $e x=$x m=4)"; done
    echo "captured $n $(fsmc cost in_place.fsm captured x=$(rows $n))"
    echo "gathered $n $(fsmc cost in_place.fsm gathered x=$x)"
done
