# The names and operands of C functions in textual IR.
cd "$FSMC_TEST_TMP" || exit 1
many=$(seq 256 | sed 's/.*/x,/' | tr -d '\n')x
echo 'func f(x: f64) -> f64 { return (extern f64 "not a name"(x)) }' >name.ir
echo "func f(x: f64) -> f64 { return (extern f64 \"g\"($many)) }" >many.ir
echo 'func f(x: f64) -> f64 { return (extern f64 "g" x) }' >list.ir
echo 'func f(x: f64) -> f64 { return (extern f64 "g" "(x: Double) : Double"()(x)) }' >cond.ir
for f in name many list cond; do fsmc check --color=never $f.ir 2>&1 | cut -c1-80; done
