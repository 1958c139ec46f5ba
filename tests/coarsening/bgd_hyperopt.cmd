. ./try.sh
make bgd_hyperopt records n=12
set -- r=0.3 x=@"$FSMC_TEST_TMP/records.0.npy" y=@"$FSMC_TEST_TMP/records.1.npy"
for entry in error gradient tangent 'tune speed=10'; do same bgd_hyperopt $entry steps=40 "$@"; done
right bgd_hyperopt error steps=40 "$@"
# The steps are used up before the slope is flat.
same bgd_hyperopt gradient "$@" steps=5
for entry in error gradient; do counts bgd_hyperopt $entry steps=40 "$@"; done
