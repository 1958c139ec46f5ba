# Line tables: the object names the source and the lines that compute; without -g there are none.
command -v llvm-dwarfdump-19 >/dev/null || { echo "llvm-dwarfdump-19 is not installed"; exit 77; }
cp lines.fsm "$FSMC_TEST_TMP" && cd "$FSMC_TEST_TMP" || exit 1
for level in 0 1 2 3; do
    fsmc -g -O$level lines.fsm && llvm-dwarfdump-19 --verify lines.o | tail -1
    echo "-O$level: lines" $(llvm-dwarfdump-19 --debug-line lines.o | awk '/^0x/ && $2 {print $2}' | sort -nu)
done
fsmc lines.fsm && llvm-dwarfdump-19 --debug-line lines.o | grep -c '^0x'
# a program that is read as textual IR has the lines of that text
fsmc --emit=ir lines.fsm -o lines.ir && fsmc -g lines.ir -o ir.o && llvm-dwarfdump-19 --debug-line ir.o | grep 'name: '
