# ADBench's own files are not part of this tree.
files=${FSMC_ADBENCH:-}
[ -n "$files" ] && [ -d "$files" ] || { echo "FSMC_ADBENCH does not name a folder with ADBench's data"; exit 77; }
. ./adbench.sh
check() { $adbench check "$@" || echo "$*"; }
for name in test 1k/gmm_d2_K5 1k/gmm_d10_K25 1k/gmm_d20_K50 1k/gmm_d64_K25 10k/gmm_d10_K25 10k/gmm_d32_K50; do
    check GMM "$files/data/gmm/$name.txt" "$files/expected/gmm/$name.adbench.txt"
    check --gradbench GMM "$files/data/gmm/$name.txt" "$files/expected/gmm/$name.gradbench.txt"
done
for name in test ba1_n49_m7776_p31843 ba2_n21_m11315_p36455; do check BA "$files/data/ba/$name.txt" "$files/expected/ba/$name.txt"; done
for name in l2_c1024 l2_c4096 l4_c1024 l4_c4096; do
    check LSTM "$files/data/lstm/lstm_$name.txt" "$files/expected/lstm/lstm_$name.txt"
done
check HAND "$files/data/hand/test.txt" "$files/expected/hand/test.txt"
check HAND-COMPLICATED "$files/data/hand/hand_complicated.txt" "$files/expected/hand/hand_complicated.txt"
for size in small big; do
    name=${size}/hand1_t26_c100.txt
    check HAND "$files/data/hand/simple_$name" "$files/expected/hand/simple_$name"
    check HAND-COMPLICATED "$files/data/hand/complicated_$name" "$files/expected/hand/complicated_$name"
done
cp "$files"/expected/extra/hand* . && ln -s "$files/data/hand/model" model
extra=$files/expected/extra
check GMM "$extra/gmm_gamma_m.input.txt" "$extra/gmm_gamma_m.adbench.txt"
check --gradbench GMM "$extra/gmm_gamma_m.input.txt" "$extra/gmm_gamma_m.gradbench.txt"
check BA "$extra/ba_varied.input.txt" "$extra/ba_varied.txt"
check LSTM "$extra/lstm_tiny.input.txt" "$extra/lstm_tiny.txt"
check HAND hand_small_rotation.input.txt hand_small_rotation.txt
check HAND-COMPLICATED hand_complicated_near_threshold.input.txt hand_complicated_near_threshold.txt
