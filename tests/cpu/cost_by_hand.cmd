# Operations on numbers as counted by hand: those of a product of matrices, and of an LU decomposition.
. ./cost.sh
for size in '3 4 5' '7 2 9' '16 16 16' '1 9 6'; do
    set -- $size
    for how in -O0 -O2 '-O2 --fp=fast'; do
        same "product $size" add=$(($1 * $2 * $3)) mul=$(($1 * $2 * $3)) div=0 call=0 -- $how product a="$(matrix $1 $2)" b="$(matrix $2 $3)"
    done
done
for n in 1 2 3 6 9; do
    updates=$((n * (n - 1) * (2 * n - 1) / 6))
    for how in -O0 -O2; do
        same "lu $n" add=$updates mul=$updates div=$((n * (n - 1) / 2)) call=0 -- $how lu a="$(matrix $n $n)"
    done
done
# Chunks of threads call no function more; how many threads there are does not matter.
for threads in 1 3 auto; do
    same "chunks, $threads" call=200000 -- --threads=$threads chunks x=0.001 n=200000
    same "rows, $threads" call=120000 -- --threads=$threads rows x=0.001 n=300 m=400
    fsmc cost --threads=$threads cost_executed.fsm chunks x=0.001 n=200000
done
