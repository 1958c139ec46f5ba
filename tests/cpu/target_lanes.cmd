# As many lanes as the vectors of the processor that code is made for.
[ "$(uname -m)" = x86_64 ] || { echo "this is not x86-64"; exit 77; }
echo 'entry f (x: Double[n]) : Double[n] = build n (fun i -> cbrt x[i])' >"$FSMC_TEST_TMP/f.fsm"
for cpu in baseline x86-64-v3 x86-64-v4 sandybridge haswell znver2 knl skylake-avx512 znver4; do
    echo $cpu $(fsmc --target-cpu=$cpu --emit=llvm -o - "$FSMC_TEST_TMP/f.fsm" | grep -oE '<[0-9]+ x double>' | tr -d '<' | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }')
done
