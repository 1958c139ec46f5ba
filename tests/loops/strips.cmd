# Of a cache of 24 KiB, a quarter holds 16 points of 320 bytes, and the whole, twice, 153.
echo cache 24576 > "$FSMC_TEST_TMP/small"
small=--machine=$FSMC_TEST_TMP/small
fsmc --emit=loops --target-cpu=x86-64-v3 $small --entry=columns -o - strips.fsm | sed '/otherwise/,$d' | sed -n '/for strip/,$p' |
    grep -E 'for |else|fill|move|new |min|check|(out0|b[0-9]*)\[.*\] = '
# How many points there are is known: nothing is asked.
fsmc --emit=loops $small --entry=known -o - strips.fsm | grep -E 'for strip|move|out0'
fsmc --emit=loops --entry=known -o - strips.fsm | grep -E 'for strip|move|out0'
fsmc --explain=schedule $small --entry=columns --emit=loops -o /dev/null strips.fsm 2>&1 | grep 'in strips'
fsmc --emit=loops --threads=2 $small --entry=columns -o - strips.fsm | sed '/otherwise/,$d' | grep -E -A1 'threads for|move '
# The same as the program, for no points, few, and with a part of a strip left or none; and the same bits as without strips.
x='x=[0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1,1.1,1.2,1.3,1.4,1.5,1.6,1.7,1.8,1.9,2]'
run() { # how, entry, points
    bones=$(seq -s, $3 | sed 's/[0-9]*[05]\b/0/g; s/[0-9]*1\b/1/g; s/[0-9]*2\b/2/g; s/[0-9]*[346-9]\b/3/g')
    fsmc run $1 strips.fsm $2 "$x" 'up=[0,1,0,3]' "bones=[$bones]" "weights=[$(seq -s, $3)]" 2>&1
}
rounded() { sed -E 's/(\.[0-9]{6})[0-9]*/\1/g; s/-0\.0/0.0/g'; }
for n in 0 1 153 154 176 200; do
    run --interp columns $n | rounded > "$FSMC_TEST_TMP/program"
    for how in --fp=precise '--fp=fast --threads=2'; do
        run "-O2 $how $small" columns $n | rounded | cmp - "$FSMC_TEST_TMP/program"
    done
done
for how in --fp=precise --fp=contract --fp=fast '--fp=fast --lanes=8' '--fp=fast --lanes=2' '--fp=fast --threads=2'; do
    run "-O2 $how" columns 201 > "$FSMC_TEST_TMP/without"
    run "-O2 $how $small" columns 201 | cmp - "$FSMC_TEST_TMP/without"
done
for how in --interp -O2 "-O2 $small" "-O2 --fp=fast $small"; do run "$how" known 160 | rounded | cksum; done
# Those in which a direction may change something (narrow.fsm), of a strip that is zero before.
echo cache 10240 > "$FSMC_TEST_TMP/smaller"
at() { fsmc run $1 narrow.fsm $2 "$x" 'up=[0,1,2,3,0,5,6,7,0,9,10,11,4,13,14,15,0,17,18,19]' "rest=[$(seq -s, 200)]" \
    "starts=[$(seq -s, 0 200)]" "bones=[$(seq -s, 200 | sed -E 's/[0-9]*(1?[0-9])/\1/g; s/\b0*([0-9])/\1/g')]" "weights=[$(seq -s, 200)]" 2>&1; }
for f in light heavy; do
    for how in --interp "-O2 --fp=fast" "-O2 --fp=fast --machine=$FSMC_TEST_TMP/smaller"; do at "$how" $f | rounded | cksum; done
done
# What is looked up is checked.
fsmc run -O2 $small strips.fsm columns "$x" 'up=[0]' "bones=[$(seq -s, 0 160 | sed 's/[0-9]\+/0/g; s/0$/7/')]" "weights=[$(seq -s, 161)]" 2>&1 || true
