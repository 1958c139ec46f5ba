# Without --emit, the suffix of -o says what is written: for each kind the same as --emit does. With it, any name does.
cd "$FSMC_TEST_TMP" || exit 1
echo 'entry f (x: Double) = x * x' >m.fsm
sed -n 's/^EMIT([A-Z]*, *"\([a-z]*\)", *"\([.a-z]*\)".*/\1 \2/p' "$FSMC_ROOT/src/driver/options.def" >kinds
while read -r kind suffix; do
    mkdir one other
    fsmc m.fsm -o "one/x.${suffix##*.}" && fsmc --emit=$kind m.fsm -o "other/x.${suffix##*.}"
    diff -r one other && echo "$kind:" one/* # both libraries, modules and objects have the same name
    rm -r one other
done <kinds
fsmc -M m.fsm -o x.ll
fsmc --emit=llvm m.fsm -o x.exe && grep -c '^define' x.exe
mkfifo pipe && fsmc m.fsm -o /dev/null && { fsmc m.fsm -o pipe & } && head -c 4 pipe | tail -c 3 && echo && wait && ls
fsmc m.fsm -o m.fsm
