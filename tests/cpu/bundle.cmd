. ./engines.sh
args='cams=[[0.3,-0.2,0.5,0.1,0.2,-1,500,10,20,0.1,-0.2],[0,0,0,1,2,-3,400,5,6,0.01,0.02]]'
args="$args pts=[[0.1,0.2,3],[-0.4,0.5,2.5]] w=[1,0.5,2] obs=[[0,1],[1,0],[0,0]] feats=[[1,2],[3,4],[5,6]]"
check bundle.fsm res $args
# Entries that nearly cancel differ in their last digits, depending on the order of operations.
coarse() { rounded | awk '{ gsub(/[0-9.e+-]+/, " & "); for (i = 1; i <= NF; i++) printf "%s ", $i ~ /[0-9]/ ? sprintf("%.6g", $i) : $i; print "" }'; }
want=$(fsmc run --interp bundle.fsm jac $args | coarse)
echo "jac = $want"
for how in --exec -O0 -O2 -O3; do
    for without in none unroll unify interchange fuse share; do
        [ $without = none ] && pass= || pass="--disable-pass=$without"
        [ $without = unify ] && pass="--passes=simplify,unroll"
        for small in '' --disable-pass=unroll; do
            [ "$without$small" = unify--disable-pass=unroll ] && continue
            got=$(fsmc run $how $pass $small bundle.fsm jac $args | coarse)
            [ "$got" = "$want" ] || echo "    $how $pass $small: $got"
        done
    done
done
