cd $FSMC_TEST_TMP
cat > a.ir <<'END'
func f(x: f64) -> f64 {
  %1 = fold i < 3, s: f64 = x {
    %0 = mul s s
    yield %0 stripmine 0
  }
  %2 = final %1 0
  return %2
}
END
sed 's/stripmine 0/stripmine 2 tapeLimit 99/' a.ir > b.ir
fsmc --emit=ir --passes= b.ir; fsmc --emit=ir a.ir
