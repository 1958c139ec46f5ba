# Where objects and headers go.
cp scalars.fsm "$FSMC_TEST_TMP"
root=$PWD
cd "$FSMC_TEST_TMP" || exit 1
mkdir out
fsmc scalars.fsm && ls && rm scalars.[oh]
fsmc "$root/scalars.fsm" && ls scalars.? && rm scalars.[oh]
fsmc scalars.fsm -o out/a.b.o && ls out && grep '_H$' out/a.b.h && rm out/*
fsmc scalars.fsm -oout/plain.o && ls out && rm out/*
fsmc scalars.fsm -o /dev/null && ls /dev/null*
fsmc scalars.fsm --entry branch -o one.o && grep -c 'int .*fsm_context' one.h
fsmc -o stdin.o - <scalars.fsm && ls stdin.*
fsmc -O0 --target-cpu=native scalars.fsm && fsmc -O3 --target-cpu=baseline --fp=fast --verify scalars.fsm && ls scalars.?
