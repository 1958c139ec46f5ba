# The step of bench/papers/kmeans.fsm adds a point to the centroid nearest to it alone: with more of these, only the distances cost more.
array() { awk -v rows=$1 -v columns=$2 -v seed=$3 'BEGIN { srand(seed); for (i = 0; i < rows; i++) { row = ""; for (j = 0; j < columns; j++) row = row (j ? "," : "") rand(); all = all (i ? "," : "") "[" row "]" } print "[" all "]" }'; }
for k in 2 4 8; do
    echo "$k $(fsmc cost --fp=fast "$FSMC_ROOT/bench/papers/kmeans.fsm" denseStep points="$(array 20 3 1)" centroids="$(array $k 3 1)")"
done
