# Files of --machine: each message with its place.
cd "$FSMC_TEST_TMP" || exit 1
echo 'entry f (x: Double) = x' >f.fsm
try() { printf "$1" >m.txt; fsmc --machine=m.txt f.fsm -o f.o || echo "exit $?"; }
try '# fine\n\n  chunk 1e6 # more\nlanes\t4'
try 'lane 8\n'
try 'lanes\n'
try 'lanes x\n'
try 'lanes 1e400\n'
try 'lanes 1\n'
try 'lanes 8 9\n'
try 'lanes 8\nmove 1\nlanes 4\n'
FSMC_MACHINE=m.txt fsmc run f.fsm f x=1 || echo "exit $?"
FSMC_MACHINE=none.txt fsmc check f.fsm
FSMC_MACHINE=none.txt fsmc run f.fsm f x=1 || echo "exit $?"
