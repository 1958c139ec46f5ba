# fsmc's code as a module of ADBench's runner, called by that interface; named by the environment, and as a tool.
. ./adbench.sh
unset FSMC_ADBENCH
folder=${adbench%/*}
[ -e "$folder/module/fsmc.so" ] || { echo "the module was not built: there is no C++ compiler, or there are sanitizers or counters"; exit 77; }
names='gmm/20/gmm_d3_K4 ba/ba1_n3_m4_p9 lstm/lstm_l2_c6_b3 hand/simple_small/hand1_t26_c5 hand/complicated_small/hand1_t26_c4'
$adbench generate . $names
check() { $adbench check --tool=module="$folder/module/load.so" --reference=fsmc --tolerance=1e-14 "$@"; }
all() {
    check GMM gmm/20/gmm_d3_K4.txt; check BA ba/ba1_n3_m4_p9.txt; check LSTM lstm/lstm_l2_c6_b3.txt
    check HAND hand/simple_small/hand1_t26_c5.txt; check HAND-COMPLICATED hand/complicated_small/hand1_t26_c4.txt
}
FSMC_ADBENCH_MODULE=$folder/module/fsmc.so all
check GMM gmm/20/gmm_d3_K4.txt; echo "exit $?"
check_this() { $adbench check --tool=this="$folder/module/fsmc.so" --reference=fsmc --tolerance=1e-14 "$@"; }
check_this BA ba/ba1_n3_m4_p9.txt
FSMC_ADBENCH_MODULE=./none.so check GMM gmm/20/gmm_d3_K4.txt; echo "exit $?"
FSMC_ADBENCH_MODULE=$folder/module/load.so check GMM gmm/20/gmm_d3_K4.txt; echo "exit $?"
