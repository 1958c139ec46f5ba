# n = 10, 20, 40: each count at 40 is what it is at 20 and twice the difference from 10.
numbers() { i=0; while [ $i -lt $2 ]; do printf '%s%s' "$sep" "$1"; sep=', '; i=$((i + 1)); done; sep=; }
list() { printf '['; numbers "$1" "$2"; printf ']'; }
bins() { printf '['; i=0; while [ $i -lt $1 ]; do printf '%s%d' "$sep" $((i * 7 % 10)); sep=', '; i=$((i + 1)); done; sep=; printf ']'; }
for entry in $(sed -n 's/^entry \([a-z_]*\) .*/\1/p' reductions.fsm); do
    for n in 10 20 40; do
        v=$(list 1.5 $n); d=$v x=$v
        [ $entry = reduce_rows ] && x=$(list '[1.5, 2.5, 0.5]' $n) d='[1, 2, 3]'
        args="{\"x\": $x"
        params=$(sed -n "s/^entry $entry //p" reductions.fsm)
        case $params in *'(is:'*) args="$args, \"is\": $(bins $n)";; esac
        for p in d v w; do
            case $params in *"($p:"*) [ $p = d ] && args="$args, \"d\": $d" || args="$args, \"$p\": $v";; esac
        done
        echo "$args}" | fsmc cost reductions.fsm $entry
    done | tr -d '{}",:' | awk -v name=$entry '
        { for (i = 2; i <= NF; i += 2) count[NR, i] = $i; for (i = 1; i <= NF; i += 2) text[i + 1] = $i; fields = NF }
        END {
            printf "%s:", name
            for (i = 2; i <= fields; i += 2) {
                step = count[2, i] - count[1, i]
                printf " %s %d", text[i], count[3, i]
                if (count[3, i] - count[2, i] != 2 * step) printf " (not linear: %d, %d)", count[1, i], count[2, i]
            }
            print ""
        }'
done
