# The names and operands of C functions in textual IR.
cd "$FSMC_TEST_TMP" || exit 1
many=$(seq 256 | sed 's/.*/x,/' | tr -d '\n')x
echo 'func f(x: f64) -> f64 { return (extern f64 "not a name"(x)) }' >name.ir
echo "func f(x: f64) -> f64 { return (extern f64 \"g\"($many)) }" >many.ir
echo 'func f(x: f64) -> f64 { return (extern f64 "g" x) }' >list.ir
echo 'func f(x: f64) -> f64 { return (extern f64 "g" "(x: Double) : Double"()(x)) }' >cond.ir
for f in name many list cond; do fsmc check --color=never $f.ir 2>&1 | cut -c1-80; done
ir() { echo "func f(x: f64) -> f64 { return ($1) }" >several.ir; fsmc check --color=never several.ir 2>&1; }
ir 'extern 1 f64, f64 "g" "(x: Double) : Double * Double"(true)(x)'
ir 'extern 2 of f64, f64 "g" "(x: Double) : Double * Double"(true)(x)'
ir 'extern 1 of f64, f64 "g"(x)'
ir "extern 1 of $(seq 256 | sed 's/.*/f64,/' | tr -d '\n') f64 \"g\"(x)" | cut -c1-80
