# A pass that makes a wrong result, by the executor and as compiled code; one that reports a bug; measures that do not jump; where
# objects go meanwhile.
find() { fsmc bisect bisect.fsm "$@" | sed -E '/^[0-9]+ steps/d; s/^step [0-9]+/step/; /^---/,$d'; }
for pass in merge lanes group; do FSMC_TEST_WRONG=$pass find energy 'x=[1, 2, 3]' k=0.5 --exec --target-cpu=x86-64 --lanes=2; done
FSMC_TEST_WRONG=copies find slope 'x=[1, 2, 3]' k=0.5 --threads=1
FSMC_TEST_BUG=peel find slope 'x=[1, 2, 3]' k=0.5
FSMC_TEST_BUG=fuse find slope 'x=[1, 2, 3]' k=0.5
find energy 'x=[1, 2, 3]' k=0.5
find energy 'x=[1, 2, 3]' k=0.5 --by=operations
echo "the program before it and after it:"
FSMC_TEST_WRONG=unfold fsmc bisect bisect.fsm energy 'x=[1, 2, 3]' k=0.5 --exec | sed -n '/^---/,$p'
fsmc bisect bisect.fsm energy --by=speed
fsmc bisect bisect.fsm nothing
mkdir "$FSMC_TEST_TMP/folder" && TMPDIR=$FSMC_TEST_TMP/folder find energy 'x=[1, 2, 3]' k=0.5 --by=size | sed 's/[1-9][0-9.e+]* bytes/some bytes/'
ls "$FSMC_TEST_TMP/folder"
TMPDIR=missing fsmc bisect bisect.fsm energy 'x=[1, 2, 3]' k=0.5 --by=size 2>&1 | sed 's/fsmc-[^.]*/fsmc-X/'
