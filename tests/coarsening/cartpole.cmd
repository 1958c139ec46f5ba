. ./try.sh
make cartpole episode b=6
set -- start=@"$FSMC_TEST_TMP/episode.0.npy" pushes=@"$FSMC_TEST_TMP/episode.1.npy"
for entry in loss gradient adjoints; do same cartpole $entry "$@"; done
right cartpole loss "$@"
for entry in loss gradient adjoints; do counts cartpole $entry "$@"; done
# Beyond the end of the track the loss is constant.
same cartpole gradient "start=[2.5, 0, 0, 0]" pushes=@"$FSMC_TEST_TMP/episode.1.npy"
