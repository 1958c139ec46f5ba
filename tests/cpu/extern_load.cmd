# Whatever runs a program finds its C functions, or says that there are none.
cd $FSMC_TEST_TMP
echo 'double tst_twice(double x) { return 2 * x; }' > lib.c && $CC -shared -fPIC lib.c -o lib.so || exit 1
cat > load.fsm <<'F'
extern tst_twice (x: Double) : Double with jvp = fun x dx -> 2 * dx
entry f (x: Double) = tst_twice x
F
for load in '' '--load ./lib.so'; do
    for how in '' --interp --exec; do
        fsmc run $how $load load.fsm f x=3
        fsmc gradcheck $how $load load.fsm f x=3 2>&1 | sed 's/[0-9.e+-]* *of.*//; 1q'
        printf 'tst_twice 4\n' | fsmc repl $how $load load.fsm
    done
    fsmc bench $load --min-time=0.01 --runs=1 load.fsm f x=3 >time 2>&1 || cat time
done
