# Loop trees as text: what is wrong with them.
cd "$FSMC_TEST_TMP" || exit 1
show() { fsmc check --color=never "$@" 2>&1; }
tree() { printf 'tree f(n: i64 size, x: f64[n]) -> f64 {\n  input 1 x[n]\n  n = arg 0\n%s\n}\n' "$1" >t.tree; show t.tree; }
whole() { printf '%s\n' "$1" >t.tree; show t.tree; }

echo "# names and values"
tree '  t1 = n + m'
tree '  t1 = x + n'
tree '  t1 = n + x'
tree '  t1 = n[n]'
tree '  n = 1'
tree '  t1 = n'
tree '  t1 = n ** n'
tree '  t1 = sine(n)'
tree '  t1 = min()'
tree '  t1 = arg 2'
tree '  t1 = extern g(n)'
tree '  t1: f64 = 1'
tree '  5 = n'
tree '  loop { break n }'
echo "# marks and places"
tree '  t1 = n + n #lanes 4'
tree '  for i < n #grid (depth 1, joins [mul n]) { }'
tree '  for i < n #grid (depth 1, ends [x]) { }'
tree '  for i < n #recurrence (linear n) { }'
tree '  for i < n #recurrence (affine n, last x) { }'
tree '  for i < n #wishes (quick) { }'
tree '  for i < n #opened (t1 = 1) { }'
tree '  for i < n #lanes 9999999999 { }'
tree '  new b1: f64[n] #home 1'
tree '  t1 = n + n @1:2'
tree '  t1 = n + n @"a":0:2'
echo "# trees"
whole 'tree f(n: i64 size) -> f64 {
  input 0 n[n]
}'
tree '  for i < n { t1 = n < n }
  check t1 else 2 "late"'
tree '  out 0 = n'
whole 'tree f(n: i64 size) -> f64[_] {
  return
}'
whole 'tree f(n: i64 size) -> f64[_] {
  extents 0 [n, n]
}'
whole 'tree f(n: i64 size, x: f64) -> f64 {
  param x: f64[_]
}'
whole 'tree f(n: i64) -> f64 {
}
otherwise f(n: f64) -> f64 {
}'
whole 'tree f(n: i64 size, x: f64) -> f64 for sizes >= 1, x >= 2 {
}'
whole 'tree f(n: i64 size, k: i64) -> f64 for sizes >= 1, (abs n) >= 0 {
}'
whole 'tree f(n: i64 size, k: i64) -> f64 for sizes >= 1, (sub n k) >= 1 {
}'
whole 'tree f(n: i64 size) -> f64 for sizes >= 1, n >= -1 {
}'
whole "tree f(n: i64 size, m: i64 size) -> f64 for sizes >= 1$(seq 33 | while read -r i; do echo ", (sub n (mul $i m)) >= 0"; done) {
}"
whole 'tree f(n: i64 size, x: f64[n]) -> f64 for sizes >= 1 of (x[_]) {
}'
whole 'tree f(n: i64 size, k: i64[n, 2, n]) -> f64 for sizes >= 1 of (k[_, 0, _]) {
}'
whole "tree f(n: i64 size, k: i64[n]) -> f64 for sizes >= 1 of (k[_]$(seq 8 | while read -r i; do echo ", k[$i]"; done)) {
}"
whole 'tree f(n: i64 size, k: i64[n]) -> f64 for sizes >= 1 of (k[_], k[_]) {
}'
whole 'func f() {'
echo "# procedures"
tree '  call 0()'
tree '  proc 0() { t1 = n + n }'
tree '  for i < n { proc 0() { } }'
tree '  t1 = param 0'
tree '  t1: i64 = param 0'
tree '  proc 0() { t1: i64 = param 1 }'
tree '  proc 0() { t1: i64 = param 0
    t2: i64 = param 0 t3: i64 = param 1 }'
tree '  proc 0() { t1: i64 = param 0 }
  call 0()'
tree '  proc 0() { t1: f64 = param 0 }
  call 0(n)'
tree '  proc 0(b: f64[]) { }
  new c: i64[]
  call 0(c)'
tree '  proc 0(b: f64[]) { t1 = 1.0 b[] = t1 }'
tree '  proc 0() to b: f64[] { }
  new c: f64[]
  call 0(c)'
tree '  proc 0() { }
  proc 0() { }'
tree '  proc 99999999999() { }'
tree '  proc 0(b: f64[] { }'
tree '  proc 0(b: f64[]) { }
  t1 = b[]'
tree '  proc 0() { call 0() }'
tree '  proc 0(b: f64[], c: f64[]) { }
  new d: f64[]
  call 0(d, d)'
echo "# no values"
whole 'tree f() { }' && fsmc --emit=ir t.tree 2>&1
fsmc run --interp t.tree f 2>&1
fsmc gradcheck t.tree f 2>&1 || :
