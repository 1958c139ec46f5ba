. ./try.sh
make hookean_spring ring n=5
set -- stiffness=10 positions=@"$FSMC_TEST_TMP/ring.0.npy" ends=@"$FSMC_TEST_TMP/ring.1.npy" rest=@"$FSMC_TEST_TMP/ring.2.npy"
for entry in energy gradient 'settle rate=0.01 steps=5'; do same hookean_spring $entry "$@"; done
right hookean_spring energy "$@"
for entry in energy gradient; do counts hookean_spring $entry "$@"; done
