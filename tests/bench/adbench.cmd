# Small instances of each problem: generated, run, compared with another run's files, and run again only if asked to.
command -v gcc >/dev/null || { echo "there is no gcc"; exit 77; }
unset FSMC_ADBENCH
. ./adbench.sh
names='gmm/20/gmm_d3_K4 ba/ba1_n3_m4_p9 lstm/lstm_l2_c6_b3 hand/simple_small/hand1_t26_c5 hand/complicated_small/hand1_t26_c4'
type_of() {
    case $1 in gmm*) echo GMM ;; ba*) echo BA ;; lstm*) echo LSTM ;; hand/simple*) echo HAND ;; *) echo HAND-COMPLICATED ;; esac
}
$adbench generate one $names && $adbench generate two $names && diff -r one two && find one -type f | sort
for name in $names; do $adbench check $(type_of $name) one/$name.txt; done
run() { $adbench run --out=out --minimum=0.0001 --samples=2 --derivative-samples=2 --tool=fsmc "$@" 2>&1 | sed 's/[0-9.e-]* ms/_ ms/g'; }
run $names
run --again $names >log
run gmm/20/gmm_d3_K4 ba/ba1_n3_m4_p9
find out/Release -type f | sort
shape() { awk '{ print NF }' "$1" | uniq -c; }
shape out/Release/hand/complicated_small/fsmc/hand1_t26_c4_J_fsmc.txt
shape out/Release/ba/fsmc/ba1_n3_m4_p9_J_fsmc.txt
shape out/Release/ba/fsmc/ba1_n3_m4_p9_F_fsmc.txt
$adbench table --tool=fsmc --out=out $names | sed 's/ [0-9][0-9.e-]* |/ _ |/g; /^$/,$d'
# The runner's own command line, and ADBench's comparison of files.
$adbench GMM fsmc one/gmm/20/gmm_d3_K4.txt here/ 0 1 1 1
cd here && ls
awk '{ print NR == 7 ? $1 + 1e-6 : $1 }' CONVFMT=%.17g OFMT=%.17g gmm_d3_K4_J_fsmc.txt >other
sed 8d gmm_d3_K4_J_fsmc.txt >shorter
sed 's/^.*$/nan/' gmm_d3_K4_J_fsmc.txt >nan
for file in gmm_d3_K4_J_fsmc.txt other shorter nan; do $adbench compare $file gmm_d3_K4_J_fsmc.txt; echo "exit $?"; done
$adbench compare --tolerance=1e-5 other gmm_d3_K4_J_fsmc.txt
cd ..
# What is written by hand in C says the same, also at odd sizes, and where points need more vertices than there are.
more='gmm/33/gmm_d9_K3 gmm/1/gmm_d1_K1 ba/ba1_n5_m9_p33 lstm/lstm_l3_c9_b17 hand/simple_small/hand2_t26_c600 hand/complicated_small/hand2_t26_c199'
$adbench generate one $more
for name in $more; do $adbench check $(type_of $name) one/$name.txt; done
for tool in manual-gcc manual-clang; do
    [ -e "${adbench%/*}/$tool.so" ] || continue
    for name in $names $more; do $adbench check --tool=$tool --reference=fsmc $(type_of $name) one/$name.txt; done
done | sort -u | sed 's/ by manual-[a-z]*//' | uniq
