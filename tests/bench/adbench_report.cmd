# What a folder of results says: as a table, as CSV, and what there is without gnuplot.
here=$PWD
. ./adbench.sh
cp -r "$here/adbench_report" out
$adbench table --out=out; $adbench table --out=out --tool=manual-gcc=x --tool=fsmc 'gmm/*d10*'
mkdir nothing; PATH=$PWD/nothing $adbench report --out=out; echo "exit $?"
cat out/report/results.csv; ls out/report
$adbench table --out=nothing; echo "exit $?"
$adbench table --out=out 'ba/*'; echo "exit $?"
$adbench table; echo "exit $?"
echo 'one two' >out/Release/lstm/fsmc/lstm_l2_c1024_times_fsmc.txt; $adbench table --out=out; echo "exit $?"
