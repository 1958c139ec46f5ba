# Known: code for `lets` that does not assume sizes of at least 1 has all loops twice, once it is no longer found that
# they cannot fail; real and imaginary parts of `fft` share a loop only as far as nested conditions are looked through.
sh growth_kinds.sh "1 4 16" lets whiles fors fft rk4 branches products outputs -- \
    "lets value tree 1.31" "lets gradient tree 1.11" "lets hvp tree 1.18" "fft value tree 1.27"
