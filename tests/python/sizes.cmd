# Results whose size Python computes or asks for, and sizes that it cannot find.
here=$PWD
cd "$FSMC_TEST_TMP" || exit 1
sizes() { sed -n 's/^    _out[0-9]* = _result(.*float64, \(.*\))$/\1/p'; }
cat >f.fsm <<'END'
entry f (n: Int) (m: Int) (x: Double[k]) : Double[n - m - 1] * Double[(n + m) * (k - 2)] * Double[n / m % 3] = 
  (build (n - m - 1) (fun _ -> 1.0), build ((n + m) * (k - 2)) (fun _ -> 1.0), build (n / m % 3) (fun _ -> 1.0))
entry g (n: Int) (m: Int) (b: Bool) = build (if b && not (n <= m) || n = 3 then min n (abs m) else max m (-n)) (fun _ -> 1.0)
END
fsmc --emit=python f.fsm -o - --library=f.so | sizes
cat >h.fsm <<'END'
entry h (x: Double[n]) = build (int x[0]) (fun i -> x[i])
END
fsmc --emit=python h.fsm -o - --library=h.so | sed -n '/_sizes/p; /_extents_/p'
echo 'entry k (x: Double) (a: Double[int x]) = a' >k.fsm
fsmc --emit=python k.fsm -o - --library=k.so
cat >i.ir <<'END'
func f(n: i64 size, x: f64[(mul 2 n)]) -> f64[n], f64 {
  %1 = gen i < n {
    %2 = at x[i]
    yield %2
  }
  return %1, 0.5
}
END
fsmc --emit=python i.ir -o - --library=i.so
sed -i 's/mul 2 n/add n 0/' i.ir
fsmc --emit=python i.ir -o - --library=i.so | sed -n '/^def f/,$p' | grep -e def -e '    return'
