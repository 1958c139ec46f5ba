for entry in forward reverse; do
    sh ../derive.sh trace_product.fsm $entry M=[[1,2,3],[4,5,6]] A=[[1,2],[3,4],[5,6]] || exit
done
