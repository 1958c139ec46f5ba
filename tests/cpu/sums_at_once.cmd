# Sums over the lanes of as many vectors as one has lanes are added at once, with no choice between that and copies of the array:
# here are the places that choose, all of single sums and of small arrays.
[ "$(uname -m)" = x86_64 ] || { echo "this is not x86-64"; exit 77; }
cat >"$FSMC_TEST_TMP/f.fsm" <<'end'
entry moments (x: Double[n][d]) : Double[d][d] = sum n (fun i -> build d (fun j -> build d (fun k -> exp x[i, j] * x[i, k])))
end
for cpu in x86-64-v3 x86-64-v4; do
    fsmc --fp=fast --target-cpu=$cpu --emit=llvm -o - "$FSMC_TEST_TMP/f.fsm" | grep -c '^copies'
done
