# Arrays in NumPy's format, written and read back; files written by NumPy itself: Fortran order, small integers.
cd "$FSMC_TEST_TMP" || exit 1
here=$FSMC_ROOT/tests/cpu
fsmc run "$here/arrays.fsm" transpose 'm=[[1, 2, 3], [4, 5, "NaN"]]' -o t.npy
fsmc run "$here/arrays.fsm" transpose m=@t.npy
head -c 127 t.npy | tail -c 117; wc -c <t.npy
fsmc run "$here/arrays.fsm" grid n=2 -o g.npy && head -c 80 g.npy | tail -c 70
fsmc run "$here/scalars.fsm" maths x=1 -o tuple.npy
fsmc run "$here/scalars.fsm" branch x=0 -o s.npy && fsmc run "$here/scalars.fsm" branch x=@s.npy
npy() { printf '\223NUMPY\1\0\166\0%-117s\n' "$1"; printf "$2"; }
npy "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }" '\1\2\3\4\5\377' >f.npy
fsmc run "$here/arrays.fsm" transpose m=@f.npy
npy "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }" '\1\0' >b.npy
fsmc run "$here/arrays.fsm" kinds 'a=[1, 2]' b=@b.npy 'c=[0.5, 0.25]'
for bad in "{'descr': '<U1', 'fortran_order': False, 'shape': (6,), }" "{'descr': '|i1', 'shape': (6,), }" \
    "{'descr': '|i1', 'fortran_order': False, 'shape': (7,), }" "{'descr': '|i1', 'fortran_order': False, 'shape': (-1,), }"; do
    npy "$bad" '\1\2\3\4\5\6' >bad.npy
    fsmc run "$here/arrays.fsm" slice x=@bad.npy
done
printf '\223NUMPY\1\0\377\0{' >bad.npy
fsmc run "$here/arrays.fsm" slice x=@bad.npy
printf '\223NUMPY\3\0\377\377\377\377{' >bad.npy
fsmc run "$here/arrays.fsm" slice x=@bad.npy
echo '[1, 2, 3]' >bad.npy
fsmc run "$here/arrays.fsm" slice x=@bad.npy
