# Ints that overflow, and polynomials that would grow large.
. ./engines.sh
check extreme_integers.fsm constants
for k in 9223372036854775807 -9223372036854775808 5; do
    check extreme_integers.fsm bounds k=$k
    check extreme_integers.fsm both k=$k
    check extreme_integers.fsm least k=$k
done
fails extreme_integers.fsm hashed 'a=[1,2,3,4,5,6,7]'
fails extreme_integers.fsm absolute 'a=[1,2,3,4,5,6,7]' k=-9223372036854775808
check extreme_integers.fsm absolute 'a=[1,2,3,4,5,6,7]' k=-9
check extreme_integers.fsm powers k=3
check extreme_integers.fsm expansion a=3 b=-5 c=2 d=7
fsmc --emit=ir -o "$FSMC_TEST_TMP/again.ir" extreme_integers.fsm && check "$FSMC_TEST_TMP/again.ir" expansion a=3 b=-5 c=2 d=7
