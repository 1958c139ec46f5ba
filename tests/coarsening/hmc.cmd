. ./try.sh
make hmc records n=10 d=3
set -- 'beta=[0.5, -0.5, 0.25]' x=@"$FSMC_TEST_TMP/records.0.npy" y=@"$FSMC_TEST_TMP/records.1.npy"
for entry in u gradU 'propose momentum=[1,0,-1] eps=0.1 steps=3'; do same hmc $entry "$@"; done
right hmc u "$@"
for entry in u gradU; do counts hmc $entry "$@"; done
# exp overflows.
same hmc gradU 'beta=[1000]' 'x=[[2], [-2]]' 'y=[0, 1]'
right hmc u 'beta=[100]' 'x=[[2], [-2]]' 'y=[0, 1]'
