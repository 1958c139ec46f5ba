# Deep and long programs compile or meet a stated limit.
. ./try.sh
cd "$FSMC_TEST_TMP" || exit 1
{ printf 'entry f (x: Double) = '; repeat '(' 100000; printf x; repeat ')' 100000; } >parentheses.fsm
try run parentheses.fsm f x=2
{ echo 'entry f (x: Double) ='; awk 'BEGIN { print "  let a0 = x"
    for (i = 1; i <= 20000; i++) printf "  let a%d = a%d + 1.0\n", i, i - 1 }'; echo '  a20000'; } >lets.fsm
for how in --interp --exec -O0 -O2; do try run $how lets.fsm f x=2; done
{ echo 'entry f (x: Double) ='; awk 'BEGIN { print "  let a0 = x"
    for (i = 1; i <= 2000; i++) printf "  let a%d = sin a%d\n", i, i - 1 }'; echo '  a2000'; } >sines.fsm
for how in --interp --exec -O0 -O2; do try run $how sines.fsm f x=0.5 | cut -c 1-14; done
{ printf 'entry f (x: Double) = x'; repeat ' + x' 1500; } >sum.fsm
try run sum.fsm f x=1
{ printf 'entry f (x: Double) = x'; repeat ' + x' 5000; } >longer.fsm
try run longer.fsm f x=1 | cut -c 1-100
{ printf 'entry f (x: Double) = '; repeat 'let a = ' 20000; printf x; repeat ' in a' 20000; } >nested.fsm
try run nested.fsm f x=1 | cut -c 1-100
# Chains of conditions, and results of thousands of parts.
for n in 5000 700; do
    { printf 'entry f (x: Double) = '; awk -v n=$n 'BEGIN { for (i = 0; i < n; i++) printf "if x > %d then %d else ", i, i }'; echo x; } >chain.fsm
    try run --exec chain.fsm f x=-1 | cut -c 1-120
done
{ printf 'entry f (x: Double) = (x'; repeat ', x' 3000; echo ')'; } >tuple.fsm
try run --exec tuple.fsm f x=1 | cut -c 1-40
{ printf 'entry f (x: Double) = [|x'; repeat '; x' 10000; echo '|]'; } >array.fsm
try run array.fsm f x=1 | cut -c 1-30
