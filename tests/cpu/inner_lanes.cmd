# Loops with lanes inside of others: they do not ask whether the call has been cancelled, and of several sums the lanes of all vectors
# are added up at once. Of an array to a part of which they add, which an outer loop chooses, the lanes have no copies.
# Loops without lanes of their own over a triangle run for all lanes together: these load the same elements, not each its own by an
# address, and what only some of them add to is not stored with masks. Whether any lane looks up an element is not asked with AVX2.
[ "$(uname -m)" = x86_64 ] || { echo "this is not x86-64"; exit 77; }
cat >"$FSMC_TEST_TMP/f.fsm" <<'end'
entry sums (x: Double[n][m]) : Double[n][4] =
  build n (fun i ->
    let s = #[lane] sum m (fun j -> exp x[i, j])
    let t = sum m (fun j -> x[i, j] * exp x[i, j])
    let u = sum m (fun j -> x[i, j] * x[i, j] * exp x[i, j])
    let v = sum m (fun j -> x[i, j] * x[i, j] * x[i, j] * exp x[i, j])
    [| s; t; u; v |])
entry parts (x: Double[n][m]) (y: Double[m][d]) : Double[n][d] =
  build n (fun i -> #[lane] sum m (fun j -> let w = exp x[i, j] in build d (fun k -> w * y[j, k])))
entry pairs (p: Double[n][3]) = grad (fun p -> sum n (fun i -> sum i (fun j -> exp (-sqnorm (vectorSub p[i] p[j]))))) p
entry look (x: Double[m]) (is: Int[n]) : Double[n] = build n (fun i -> if 0 <= is[i] && is[i] < m then x[is[i]] else 0)
end
code() { fsmc --fp=fast --lanes=4 --target-cpu=x86-64-v3 --entry=$1 --emit=$2 -o - "$FSMC_TEST_TMP/f.fsm"; }
code sums loops | sed '/^} otherwise/q' | grep -E '^ *((blocks of )?lanes )?for'
code sums llvm | awk '/^define/ { f = /@sums.body/ } f' | grep -cE 'load atomic|vector.reduce.fadd.*<'
code parts loops | sed '/^} otherwise/q' | grep -E '^ *((blocks of )?lanes )?for'
code parts llvm | awk '/^define/ { f = /@parts.body/ } f' | grep -cE '^(copies|added)' || :
code pairs llvm | awk '/^define/ { f = /@pairs.body/ } f' | grep -cE 'masked.store' || :
code pairs llvm | awk '/^define/ { f = /@pairs.body/ } f' | grep -cE 'extractelement <[48] x ptr>' || :
for cpu in x86-64-v3 x86-64-v4; do
    fsmc --target-cpu=$cpu --entry=look --emit=llvm -o - "$FSMC_TEST_TMP/f.fsm" | awk '/^define/ { f = /@look.body/ } f' | grep -cE '^lanes' || :
done
