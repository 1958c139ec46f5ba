# Known: real and imaginary parts of `fft` share a loop only as far as nested conditions are looked through.
sh growth_kinds.sh "1 4 16" lets whiles fors fft rk4 branches products outputs -- "fft value tree 1.27"
