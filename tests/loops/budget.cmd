# Less code for a smaller budget, down to one body for each loop with lanes, and the same numbers.
# The default may be a little more than all versions: a loop with masks is not always the smaller one.
[ "$(uname -m)" = x86_64 ] || { echo "this is not x86-64"; exit 77; }
size() { fsmc budget.fsm --entry=slope --fp=fast --target-cpu=$cpu "$@" -o "$FSMC_TEST_TMP/b.o" && wc -c <"$FSMC_TEST_TMP/b.o"; }
for cpu in x86-64-v3 x86-64-v4; do
    most=$(size --code-size=1G) some=$(size --code-size=48K) least=$(size --code-size=1) default=$(size)
    [ $((least * 10)) -le $((most * 7)) ] && [ "$least" -le "$some" ] && [ "$some" -lt "$most" ] && [ $((default * 20)) -le $((most * 21)) ] ||
        echo "$cpu: $most, $some, $least, $default bytes"
    fsmc budget.fsm --entry=slope --fp=fast --target-cpu=$cpu --code-size=1 --emit=loops -o - | grep -c 'masked lanes'
done
# The version that is left out is named.
fsmc budget.fsm --entry=slope --fp=fast --target-cpu=x86-64-v4 --code-size=1 --explain=schedule -o /dev/null --emit=obj 2>&1 |
    sed -n 's/ about [0-9]*/ about N/g; s/[0-9]* with as few/N with as few/; s/: [0-9]* for a/: N for a/; /bytes of code/p' | sort | uniq -c | sed 's/^ *//'
fsmc check budget.fsm --code-size=0 2>&1
for t in 1 3 9; do
    for d in 1 7 17; do
        args="w=@$FSMC_TEST_TMP/w.json x=@$FSMC_TEST_TMP/x.json"
        awk -v t=$t -v d=$d -v out="$FSMC_TEST_TMP" 'function rows(f, n, m,    i, j) {
            for (i = 0; i < n; i++) for (j = 0; j < m; j++)
                printf "%s%.3f%s", j ? "," : i ? ",[" : "[[", cos(3 * i + 5 * j + n) / 4, j == m - 1 ? i == n - 1 ? "]]" : "]" : "" > f
        }
        BEGIN { rows(out "/w.json", d, d); rows(out "/x.json", t, d) }'
        for how in --interp "-O2 --code-size=1" "-O3 --fp=fast --code-size=1 --lanes=4" "-O2 --fp=fast --lanes=8 --code-size=20K" \
            "-O2 --fp=precise --code-size=1" "-O2 --code-size=1 --threads=2"; do
            fsmc run $how budget.fsm slope $args | tr '[],' '\n\n\n' | awk -v how="$how" -v file="$FSMC_TEST_TMP/expected" '
                how == "--interp" { print > file; next }
                { getline e < file; d = $1 - e; if (d * d > 1e-20) print how ": " $1 " for " e; n++ }
                END { if (how != "--interp" && !n) print how ": nothing" }'
        done
    done
done
for how in --interp "-O2 --code-size=1"; do fsmc run $how budget.fsm single 'x=[[0.5,1,1.5,2,2.5],[1,1,1,1,1]]' | sed 's/\(\.[0-9]\{4\}\)[0-9]*/\1/g'; done | uniq
