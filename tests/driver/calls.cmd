# Many calls of one entry: a line of results for each, also after errors, which have the places of their lines.
cd "$FSMC_TEST_TMP" || exit 1
cat >m.fsm <<'END'
entry f (v: Double[n]) (k: Int) = v[k] * 2
entry none = 3
entry sized (n: Int) (x: Double) : Double * Int = (x, n)
END
cat >calls.json <<'END'
[[1, 2, 3], 0]
   
{"v": [4, 5], "k": 1}
[[1, 2], 7]
[[1, "a"], 0]
[[1, 2]
 [[1]]
3
{"v": [1], "q": 2}
[[], 0]
[["NaN"], 0]
{"n": 2, "v": [1], "k": 0}
{"n": -1, "v": [1], "k": 0}
END
printf '[[9.5], 0]' >>calls.json
fsmc run m.fsm f --calls=calls.json >first 2>errors
echo "exit $?"
cat first errors
for how in --interp --exec -O0; do fsmc run $how m.fsm f --calls=calls.json 2>&1 >out | diff - errors && diff out first; done
# From standard input, with arguments that the words set, other ends of lines, and no line at all.
printf '[[1,2,3]]\r\n\r\n{"v":[4]}\r\n' | fsmc run m.fsm f k=0 --calls=-
fsmc run m.fsm f k=0 --calls=/dev/null && echo nothing
printf '[]\n{}\n' | fsmc run m.fsm none --calls=-
printf '[1]\n[2, 3]\n' | fsmc run m.fsm sized n=7 --calls=- -o out && cat out
printf '[[1,2,3], 0]\n' | fsmc run m.fsm f --calls=- -o out && cat out
# What does not go together.
fsmc run m.fsm f --calls=calls.json -o x.npy
fsmc run - f --calls=- <m.fsm
fsmc run m.fsm f --calls=calls.json -o calls.json
fsmc run m.fsm f --calls=calls.json -o m.fsm
fsmc run m.fsm f --calls=missing
fsmc run m.fsm f k=0 k=1 --calls=calls.json --error-limit=1
