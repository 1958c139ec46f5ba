# The reader of files of values: each message with its place. `body LINES` is the body of a function of x: f64, n and v.
. ../errors/try.sh
cd "$FSMC_TEST_TMP" || exit 1
text() { printf '%s\n' "$1" >x.ir; try check x.ir | sed 1d; }
body() { text "func f(n: i64 size, x: f64, k: i64, v: f64[n]) -> f64 { $1 }"; }
many() { awk -v n="$1" -v t="$2" 'BEGIN { for (i = 0; i < n; i++) printf t, i }'; }
echo '== characters'
body '%1 = assert true "text'
body '%1 = add 1e x return %1'
body 'return `x'
body '% = add x x'
body 'return x ; 2'
body 'return y'
body '%1 = add x x %1 = add x x return %1'
body 'return 99999999999999999999'
echo '== types and operands'
text 'func f(x: f65) -> f64 { return x }'
text 'func f(x: f64) f64 { return x }'
text 'func f(x: f64[2, 3, 4'
body '%1 = add f32 x x return %1'
body 'return }'
body 'return v'
body 'return k'
body '%1 = add v x return %1'
body '%1 = add x k return %1'
body '%1 = and x x return %1'
body '%1 = at x[0] return %1'
body '%1 = at v return %1'
body '%1 = at v[0, 1] return %1'
body '%1 = assert true x x return %1'
body '%1 = input x return %1'
body '%1 = 3 return %1'
body "%1 = $(many 500 'add x (') return %1" | cut -c 1-60
echo '== arrays and loops'
body '%1 = pack f64 1.0 return x'
body '%1 = pack f64[n] 1.0 return x'
body '%1 = gen i < n { return x } return x'
body '%1 = sum i < n { yield true } return x'
body '%1 = sum i < n { yield x #block 4 #fast } return x'
body '%1 = argmin i < n { yield v } return x'
body '%1 = fold i < n, s: f64 = x { yield s } return %1'
body '%1 = fold i < n, s: f64 = x { yield s } %2 = final x 0 return %2'
body '%1 = fold i < n, s: f64 = x { yield s } %2 = final %1 1 return %2'
body '%1 = fold i < n, s: f64 = x { yield s trace s } %2 = trace %1 1 return %2'
body '%1 = fold i < n, s: f64 = x { %2 = gen q < i { yield 1.0 } yield s trace %2 } %3 = trace %1 0 return %3'
body '%1 = fold i < n, s: f64 = x { return s } return x'
body '%1 = while s: f64 = x { yield s } return x'
body '%1 = while s: f64 = x { %2 = lt s 1.0 test %2 return s } return x'
body "%1 = fold i < n$(many 300 ', s%d: f64 = x') { yield x } return x" | cut -c 1-60
body "%1 = at v[$(many 300 '0, ')0] return %1" | cut -c 1-60
body "%1 = $(many 300 'gen i%d < 1 { %%1 = ') add x x $(many 300 'yield %%1 } ') return %1" | cut -c 1-60
body "%1 = $(many 500 'gen i%d < 1 { %%1 = ') add x x return %1" | cut -c 1-60
echo '== functions'
text 'func f(x: f64, n: i64 size) -> f64 { return x }'
text 'func f(x: f64) -> f64 { param a: f64 param b: f64 return x }'
text 'func f(x: f64, y: f64) -> f64 { param a: f64 return x }'
text 'func f(x: f64) -> f64 { result (f64, f64) return x }'
text 'func f(n: i64 size, v: f64[n]) -> f64[3] { return v }'
text 'func f(x: f64) -> f64 { stop }'
text "func f(x: f64) -> f64 { param a: ($(many 300 'f64, ')f64) return x }" | cut -c 1-60
text "func f($(many 5000 'x%d: f64, ')y: f64) -> f64 { return y }" | cut -c 1-60
text "func f(x: f64) -> $(many 5000 'f64, ')f64 { return x }" | cut -c 1-60
printf 'func f(x: f64) -> f64 { return \0 x }' >x.ir
try check x.ir | sed 1d
text 'func f(x: f64, j: i32) -> f64 { %1 = conv f64 j return %1 }'
text 'func f(x: f64, j: i32) -> f64 { %1 = extern f64 "g"(x, j) return %1 }'
text 'func f(x: f64, j: i32) -> i32 { %1 = add j j return %1 }'
