fsmc --explain=schedule --fp=fast --emit=loops -o /dev/null narrow_rows.fsm 2>&1 | grep 'few of its'
x='angles=[0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1,1.1,1.2,1.3,1.4,1.5,1.6,1.7,1.8,1.9,2]'
rest='rest=[0.3,0.7,1.1,0.4]'
for f in again lookups decides; do
    for up in 0 1,0 0,1,2,3,4 2,2,0,1,4,4,17,19; do
        fsmc run --interp narrow_rows.fsm $f "$x" "up=[$up]" "$rest" 'first=[1,2,7,0]' > "$FSMC_TEST_TMP/right"
        for how in --lanes=4 --lanes=2 --lanes=8 --threads=2; do
            fsmc run -O2 --fp=fast $how narrow_rows.fsm $f "$x" "up=[$up]" "$rest" 'first=[1,2,7,0]' 2>&1 |
                paste -d' ' "$FSMC_TEST_TMP/right" - |
                awk -v what="$f, up $up, $how" '{ gsub(/[][,]/, " "); off = 0; some = 0
                    for (i = 1; i <= NF / 2; i++) { d = $i - $(i + NF / 2); off += d * d > 1e-18 * (1 + $i * $i); some += $i != 0 }
                    print what ": " NF / 2 " elements, " some " are not 0, " off " are off" }'
        done
    done
done
