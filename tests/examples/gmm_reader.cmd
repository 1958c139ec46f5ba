. ./build_gmm.sh
try() {
    printf "$1" >data.txt
    ./gmm --no-times data.txt >log 2>&1 && echo accepted || echo "$?: $(cat log)"
}
try '1 1 1\r\n0\r\n0\r\n0\r\n1\r\n1 0'
try ''
try 'x'
try '2 1'
try '0 1 1'
try '2 1 1000000000'
try '99999999999999999999 1 1'
try '1 1 1\n0\n0\n0\nnan\n1 0'
try '1 1 1\n0\n0\n0\n1e999\n1 0'
try '1 1 1\n0\n0\n0\n1\n1'
try '1 1 1\n0\n0\n0\n1\n1 0.5'
try '1 1 1\n0\n0\n0\n1\n1 0 7'
try '1 1 1\n0\n\0\n0\n1\n1 0'
./gmm missing.txt
printf '1 1 1\n0\n0\n0\n1\n1 0' >data.txt
try_expected() {
    printf "$1" >expected.txt
    ./gmm --no-times data.txt --compare expected.txt 2>&1 >log
    echo "$?"
}
try_expected 'objective x'
try_expected 'nothing'
try_expected 'objective 1\nentries 3 full\n0 1\n1 2\n3 4\n'
try_expected 'objective 1\nentries 2 full\n0 1\n1 2\n'
try_expected 'objective 1\nentries 1 sampled\n0 1\n'
./gmm
