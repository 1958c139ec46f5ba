cp "$FSMC_ROOT"/examples/rosenbrock.fsm "$FSMC_TEST_TMP" && cd "$FSMC_TEST_TMP"
mkdir lib && echo 'let twice x = 2 * x' > lib/inner.fsm && printf 'open "inner.fsm"\nlet four x = twice (twice x)\n' > lib/outer.fsm
printf 'step [| -1.0; 2.0 |]\nlet rosenbrock x = sumOf x\nstep [| -1.0; 2.0 |]\n:reload\nstep [| -1.0; 2.0 |]\n:load lib/outer.fsm\nfour 3\nstep\n:list\n' | fsmc repl rosenbrock.fsm 2>&1
echo "exit $?"
printf 'let f = = 1\n' > bad.fsm; printf '1 + 1\n:reload\n' | fsmc repl bad.fsm 2>&1
printf 'open "lib/inner.fsm"\ntwice 2\nopen "lib/inner.fsm"\n:list' | fsmc repl 2>&1
fsmc repl a b 2>&1; echo "exit $?"
fsmc repl </dev/null; echo "exit $?"
printf 'sin 1\n:time 1' | fsmc repl --interp | sed 's/[0-9.]* ms/_ ms/g'
printf 'build 21 (fun i -> i)\nbuild 20 (fun i -> i)\n0.1 + 0.2\n1e300\n1.0 / 0.0\n0.0 / 0.0\nlog (-1.0)\n[| 1.5 |]\n:help' | fsmc repl -O0
