# The graph of values: nested sums, loops, branches, names that need quoting.
cat >"$FSMC_TEST_TMP/m.fsm" <<'END'
entry f (x: Double[n]) (w: Double[m][n]) = sum m (fun k -> sum n (fun i -> w[k, i] * x[i]) ** 2)
entry g' (x: Double) (p: Bool) = ifold (fun s i -> if p then s * x + double i else s) x 10
entry h (x: Double) = whileLoop (fun s -> s < 100.0) (fun s -> s * 2.0) x
entry k (x: Double[n]) (i: Int) : Double * Int = let _ = assert (i > 2) "say \"more\"" in (x[2 * i], n)
END
fsmc --emit=dot "$FSMC_TEST_TMP/m.fsm"
