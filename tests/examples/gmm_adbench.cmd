# ADBench's own files are not part of this tree.
adbench=${FSMC_ADBENCH:-}
[ -n "$adbench" ] && [ -d "$adbench" ] || { echo "FSMC_ADBENCH does not name a folder with ADBench's data"; exit 77; }
. ./build_gmm.sh
for case in test 1k/gmm_d2_K5 1k/gmm_d10_K25 1k/gmm_d20_K50 1k/gmm_d64_K25 10k/gmm_d10_K25 10k/gmm_d32_K50; do
    if ./gmm --no-times "$adbench/data/gmm/$case.txt" --compare "$adbench/expected/gmm/$case.adbench.txt" >log 2>&1; then
        echo "$case agrees"
    else
        echo "$case"; cat log
    fi
done
