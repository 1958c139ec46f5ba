# ADBench's own files are not part of this tree.
adbench=${FSMC_ADBENCH:-}
[ -n "$adbench" ] && [ -d "$adbench" ] || { echo "FSMC_ADBENCH does not name a folder with ADBench's data"; exit 77; }
. ./build_ba.sh
for case in test ba1_n49_m7776_p31843 ba2_n21_m11315_p36455; do
    if ./ba --no-times "$adbench/data/ba/$case.txt" --compare "$adbench/expected/ba/$case.txt" >log 2>&1; then
        echo "$case agrees"
    else
        echo "$case"; cat log
    fi
done
