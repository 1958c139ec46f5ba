. ./try.sh
make brachistochrone line n=5 depth=1
set -- width=2 depth=1 drops=@"$FSMC_TEST_TMP/line.npy"
for entry in duration gradient 'improve rate=0.1'; do same brachistochrone $entry "$@"; done
right brachistochrone duration "$@"
for entry in duration gradient; do counts brachistochrone $entry "$@"; done
