# Tools that are programs: one that is too slow, which is not run at larger sizes, one that fails, and one that differs.
unset FSMC_ADBENCH
. ./adbench.sh
cat >slow.sh <<'END'
exec sleep 30
END
cat >wrong.sh <<'END'
# TYPE MODULE INPUT OUT_PREFIX …
base=$4$(basename "$3" .txt)
"$ADBENCH" "$1" fsmc "$3" "$4" 0 1 1 1
for what in F times; do mv "${base}_${what}_fsmc.txt" "${base}_${what}_$2.txt"; done
sed '2s/^-*/9/' "${base}_J_fsmc.txt" >"${base}_J_$2.txt"
END
export ADBENCH=$adbench
names='lstm/lstm_l2_c6_b3 lstm/lstm_l2_c9_b3'
run() {
    $adbench run --out=out --minimum=0 --samples=1 --derivative-samples=1 --timeout=2 "$@" 2>&1 >/dev/null; echo "exit $?"
}
run --rounds=2 --tool=fsmc --tool='slow=sh slow.sh' $names | sed 's/[0-9.e-]* ms/_ ms/g'
cat out/Release/lstm/slow/*
run --tool='slow=sh slow.sh' --tool='failing=false' --tool='absent=./absent' lstm/lstm_l2_c6_b3
run --tool='manual=sh wrong.sh' --tool=fsmc lstm/lstm_l2_c6_b3 | sed 's/[0-9.e-]* ms/_ ms/g; s/difference is .*/difference is …/'
sed 's/Difference": [0-9].*/Difference": …/' out/Release/lstm/fsmc/*correctness*
$adbench table --out=out --tool=fsmc --tool='slow=x' --tool='manual=x' $names | sed 's/ [0-9][0-9.e-]* \(manual \)*|/ _ \1|/g; /^$/,$d'
# Only sizes that are not smaller are given up. A tool that takes too much memory, and one under a name that is not its own, of a
# folder of tools.
run --timeout=0.5 --tool='slow=sh slow.sh' lstm/lstm_l2_c8_b3 lstm/lstm_l2_c7_b3 | grep -v generating
# With a priority of real time and one processor, as far as this is allowed, tools are ended all the same.
echo "exec awk 'BEGIN { for (i = 0; i < 200000000; i++); }'" >busy.sh
first="chrt -f 2 taskset -c $(taskset -cp $$ | sed 's/.*[ ,-]//')"; $first true 2>/dev/null || first=
$first $adbench run --out=out --timeout=0.5 --tool='busy=sh busy.sh' lstm/lstm_l2_c6_b3 2>&1 | grep busy
mkdir tools; cp "${adbench%/*}/fsmc-threads.so" tools/own.so
printf '#!/bin/sh\n[ "$1" = --version ] && exec echo 7\nexec tail /dev/zero\n' >tools/greedy; chmod +x tools/greedy
: >tools/notes.txt
export FSMC_ADBENCH_TOOLS=tools
run --memory=0.5 --timeout=60 --tool=all lstm/lstm_l2_c6_b3 | grep 'own\|greedy\|notes' | sed 's/[0-9.e-]* ms/_ ms/g'
grep '^greedy' out/about.txt
run --tool=own lstm/lstm_l2_c6_b3 | sed 's/[0-9.e-]* ms/_ ms/g'
# Adapters: those that cannot be run are left out by name. Results of a folder are of one number of threads.
printf '#!/bin/sh\necho "there is no JAX here"\nexit 77\n' >python; chmod +x python
run() { FSMC_PYTHON=$PWD/python $adbench run --out=new --minimum=0 --samples=1 --derivative-samples=1 "$@" 2>&1 | sed 's/[0-9.e-]* ms/_ ms/g; s/1 to [0-9]*,/1 to _,/; 2,$d'; }
run --tool=jax --tool=fsmc lstm/lstm_l2_c6_b3
run --tool=jax lstm/lstm_l2_c6_b3; FSMC_PYTHON=$PWD/python $adbench check --tool=jax LSTM new/data/lstm/lstm_l2_c6_b3.txt 2>&1 | tail -1
sed -n '/threads\|clock/p' new/about.txt; sed -i 's/threads: 1/threads: 7/' new/about.txt
run --tool=fsmc lstm/lstm_l2_c6_b3; run --threads=0
