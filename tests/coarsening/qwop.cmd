. ./try.sh
make qwop figure steps=3 weight=60
set -- schedule=@"$FSMC_TEST_TMP/figure.0.npy" mass=@"$FSMC_TEST_TMP/figure.1.npy"
same qwop score "$@"
fsmc run --interp qwop.fsm gradient "$@" >"$FSMC_TEST_TMP/want"
fsmc run --disable-pass=keep qwop.fsm gradient "$@" >"$FSMC_TEST_TMP/got" # with it, compiling takes long
near "$FSMC_TEST_TMP/want" "$FSMC_TEST_TMP/got" || cat "$FSMC_TEST_TMP/got"
rounded <"$FSMC_TEST_TMP/want"
# Feet in the ground, a knee that bends the wrong way, velocities beyond the limit, extensions out of range.
set -- 'positions=[[0,1.6],[0,1.4],[0,0.9],[-0.2,0.4],[0.1,-0.02],[0.1,0.4],[-0.1,-0.01],[-0.2,0.9],[0.2,0.9]]' \
    'velocities=[[1,0],[1,0.5],[1,0],[20,3],[0.1,-1],[-1,0.5],[3,0.2],[0,0],[2,2]]' 'extensions=[-0.5,0,0.2,0.5,0.9,1,2]' \
    mass=@"$FSMC_TEST_TMP/figure.1.npy"
right qwop step "$@"
same qwop step "$@"
