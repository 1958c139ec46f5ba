# Files that are not what they should be, and wrong usage.
. ./adbench.sh
try() {
    printf "$2" >data.txt
    $adbench check "$1" data.txt; echo "exit $?"
}
try GMM ''
try GMM '2 3 x'
try GMM '2 1 1000000000\n0'
try GMM '1 1 1\n0\n0\n0\nnan\n1 0'
try GMM '1 1 1\n0\n0\n0\n1\n1 0 7'
try BA '1 1 1\n0 0 0 0 0 0 1 0 0 0'
try BA '1 1 1\n0 0 0 0 0 0 1 0 0 0 0\n0 0 1\n1\n0 0\n2'
try BA '1 1 9\n0 0 0 0 0 0 1 0 0 0 0\n0 0 1\n1\n0 0\n2\n3'
try LSTM '1 1 1'
try LSTM '1 2 1\n1 1 1 1 1 1 1 1\n1 1 1\n1 1\n0 one\n'
try LSTM '9 2 9\n1'
$adbench check GMM missing.txt; echo "exit $?"
try HAND '1 26'
$adbench generate . hand/simple_small/hand1_t26_c2
cp -r hand/simple_small/model .
good=$(cat hand/simple_small/hand1_t26_c2.txt)
try HAND "$good"
try HAND "$(echo "$good" | sed '1s/26/25/')"
try HAND "$(echo "$good" | sed '2s/^[0-9]*/544/')"
try HAND "$good\n1"
sed -i '3s/^\([^:]*\):1:/\1:2:/' model/bones.txt
try HAND "$good"
sed 3d hand/simple_small/model/bones.txt >model/bones.txt
try HAND "$good"
cp hand/simple_small/model/bones.txt model
sed -i '5s/:[^:]*$/:x/' model/vertices.txt
try HAND "$good"
$adbench generate . lstm/lstm_l2_c6_b3 && mv lstm/*.txt good.txt
for words in '' nothing 'list nothing' 'run gmm/20/gmm_d2_K3' 'run --out=x --tool=none' 'run --out=x --tool=a/b' 'run --samples=x' \
    'run --more' 'generate x gmm/0/gmm_d2_K3' 'generate x gmm/9/gmm_d2' 'check GNN x' 'compare x' 'GMM fsmc x' \
    'LSTM none good.txt x 1 1 1 1' 'LSTM ./none.so good.txt x 1 1 1 1' 'LSTM fsmc good.txt x 1 y 1 1'; do
    $adbench $words 2>&1 >/dev/null | head -1
    $adbench $words >/dev/null 2>&1
    echo "exit $?"
done 2>&1 | sed "s|$FSMC_BUILD|BUILD|"
