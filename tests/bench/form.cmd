# Times are not reproducible: only the form of what is printed is.
numbers() { sed -E 's/(": )-?[0-9.e+-]+/\1_/g; s/^(  [a-z]+) +[0-9.e+-]+ (ns|us|ms|s)$/\1 TIME/; s/^(  [a-z]+) +[0-9.e+-]+$/\1 NUMBER/; s/of [0-9]+$/of N/; s/ +[0-9]+ bytes/ N bytes/'; }
run() { fsmc bench "$FSMC_ROOT"/examples/rosenbrock.fsm --min-time=0.01 --runs=5 "$@"; echo "exit $?"; }
run step n=1000 | numbers
run step 'x=[1,2,3]' --compare=curvature 'v=[1,2,3]' 2>&1
run curvature n=10 --compare=curvature | numbers
run curvature n=10 --json | numbers
run step --json --compare=step | numbers
run step n=-1
run nope
run step --runs=0
run step --min-time=0
run
