# Files in NumPy's format: the order of Fortran, versions, and what is not one.
. ../errors/try.sh
cd "$FSMC_TEST_TMP" || exit 1
echo 'entry f (m: Double[r][c]) = m' >f.fsm
npy() { # npy VERSION ORDER SHAPE: six numbers
    header="{'descr': '|i1', 'fortran_order': $2, 'shape': ($3), }"
    printf "\\223NUMPY\\00$1\\000\\$(printf %03o ${#header})\\000"
    [ "$1" = 1 ] || printf '\000\000'
    printf '%s\001\002\003\004\005\006' "$header"
}
for version in 1 2 3 4; do npy $version False '2, 3' >m.npy && try run f.fsm f m=@m.npy; done
npy 1 True '2, 3' >m.npy && try run f.fsm f m=@m.npy
npy 1 False '2, 4' >m.npy && try run f.fsm f m=@m.npy
npy 1 False '6,' >m.npy && try run f.fsm f m=@m.npy
echo '[[1]]' >m.npy && try run f.fsm f m=@m.npy
