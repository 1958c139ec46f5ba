# Malformed sources, each with the place.
. ./try.sh
cd "$FSMC_TEST_TMP" || exit 1
source() {
    printf '%s\n' "$2" >"$1.fsm"
    try check "$1.fsm"
}
source comment 'entry f (x: Double) = x (* no end'
source name 'entry f (x: Double) = sine x'
source recursion 'let g x = g x
entry f (x: Double) = g x'
source type 'entry f (x: Double) = if x then 1.0 else 2.0'
source branches 'entry f (x: Double) (v: Double[n]) = if x > 0.0 then x else v'
source call 'entry f (x: Double) = sin x x'
source size 'entry f (x: Double[n]) (y: Double[m]): Double[n] = y'
source ragged 'entry f (n: Int) = build n (fun i -> build i (fun j -> 1.0))'
source literal 'entry f (x: Double) = [| [| x |]; [| x; x |] |]'
source annotation 'entry f x = x'
source index 'entry f (v: Double[n]) = v[0.5]'
source twice 'entry f (x: Double) = x
entry f (x: Double) = x'
head -c 300 /dev/zero >zero.fsm
try check zero.fsm
printf 'entry f = \377\376\n' >bytes.fsm
try check bytes.fsm
: >empty.fsm
try check empty.fsm
