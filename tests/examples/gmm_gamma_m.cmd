. ./build_gmm.sh
./gmm --no-times "$here/gmm_gamma_m.txt" --compare "$here/gmm_gamma_m.expected" --dump dump.txt >log || cat log
wc -l <dump.txt
