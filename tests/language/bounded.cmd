# No derivative grows faster than its function.
for how in --fp=fast --fp=contract; do fsmc check -Wcost $how bounded.fsm && echo "$how: bounded"; done
# What data decides is counted: at 4 times the size, not much more than 4 times (and log n) of each.
for n in 64 256; do
    x=$(awk -v n=$n 'BEGIN { for (i = 0; i < n; i++) printf "%s%d", i ? "," : "", i * 7 % 5 }')
    fsmc cost bounded.fsm stages "x=[$x]"
    fsmc cost bounded.fsm by_data "x=[$x]" "is=[$(echo "$x" | tr 01234 12301)]"
done
