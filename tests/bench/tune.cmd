# `fsmc tune` measures, and writes a table that --machine reads.
cd "$FSMC_TEST_TMP" || exit 1
fsmc tune --min-time=0.001 -o this.machine 2>progress || cat progress
for name in addition multiply divide root function lanes plain_long plain_short copy; do
    grep -q "$name *[0-9]" progress || echo "no $name"
done
# All of the table, within its bounds, with what was not measured as it is.
sed 1q this.machine
sed 1d this.machine | awk '$2 > 0 || $1 == "registers" { print $1 }' | tr '\n' ' '; echo
grep ^worth this.machine
echo 'entry f (x: Double[n]) = sum n (fun i -> exp x[i])' >f.fsm
fsmc run --machine=this.machine f.fsm f 'x=[0, 0]'
fsmc tune --min-time=0.001 2>/dev/null | wc -l
fsmc tune this.machine
fsmc tune --min-time=0.001 -o no/such/folder 2>&1 | tail -1
