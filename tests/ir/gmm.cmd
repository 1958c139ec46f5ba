# GMM's gradient, written out: one pass over the points, and no array over the points. Beside it, differentiated.
. ./count.sh
call() { echo "alphas=$(array $1) means=$(array $1 $2) icf=$(array $1 $(($2 * ($2 + 1) / 2))) x=$(array $3 $2) gamma=0.7 m=3"; }
agree gmm.ir gradient $(call 3 2 4)
by_hand=$(fsmc run gmm.ir gradient $(call 3 4 7) | rounded)
derived=$(fsmc run "$FSMC_ROOT/examples/gmm.fsm" gmm_gradient $(call 3 4 7) | rounded)
[ "$by_hand" = "$derived" ] && echo "$by_hand"
c_name=of
for sizes in '4 4 20' '4 4 40' '8 4 20' '4 8 20' '4 16 20' '4 16 40'; do
    set -- $sizes
    k=$1 d=$2 n=$3
    t=$((d * (d + 1) / 2))
    # the leading term: for each point and component, a triangle for z, and one for both products with z
    c="$((n * k * 2 * t)) $((n * k * 9 * t)) $((n * k * 2 * t)) -"
    count "k = $k, d = $d, n = $n" "$c" gmm.ir gradient $(call $k $d $n)
    count "k = $k, d = $d, n = $n" "$c" "$FSMC_ROOT/examples/gmm.fsm" gmm_gradient $(call $k $d $n)
done
