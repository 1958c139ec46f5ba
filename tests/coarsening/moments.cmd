# Which sums of ad/moments.fsm become moments, with --fp=fast only, and what is saved for n records and a number of steps.
file=$FSMC_ROOT/tests/ad/moments.fsm
fsmc --fp=fast --explain=loops "$file" -o "$FSMC_TEST_TMP/moments.o" 2>&1 | grep moments: | sed 's/.*moments.fsm:/moments.fsm:/'
fsmc --explain=loops "$file" -o "$FSMC_TEST_TMP/moments.o" 2>&1 | grep moments:
. ./try.sh
for n in 10 20; do
    make bgd_hyperopt records n=$n
    for steps in 10 20; do
        for entry in error gradient tangent; do
            for how in '' --no-coarsen; do
                echo "$entry $n $steps $how" "$(fsmc cost --fp=fast $how bgd_hyperopt.fsm $entry r=0.001 steps=$steps \
                    x=@"$FSMC_TEST_TMP/records.0.npy" y=@"$FSMC_TEST_TMP/records.1.npy")"
            done
        done
    done
done | awk '
    { gsub(/[{},":]/, " "); name = $1 " " ($4 == "add" ? "" : $4); $1 = $1 }
    { for (i = 1; i < NF; i++) if ($i == "add" || $i == "mul" || $i == "loads") count[name, $2, $3, $i] = $(i + 1); names[name] }
    function cross(name, op) { # what depends on the product of both
        return (count[name, 20, 20, op] - count[name, 20, 10, op] - count[name, 10, 20, op] + count[name, 10, 10, op]) / 100
    }
    END { for (name in names) print name ": for each record and step, add", cross(name, "add"), "mul", cross(name, "mul"), "loads", cross(name, "loads") }' | sort
