for entry in $(sed -n 's/^entry \([a-zA-Z]*\) .*/\1/p' figure8.fsm); do
    fsmc -Wno-unused-let --emit=fsm --entry=$entry -o - figure8.fsm | grep -v '^//\|^$'
done
# The second of (e), an unfolded loop, holds only for n > 0; the fourth only where 0 <= k < n.
fsmc run -Wno-unused-let figure8.fsm once z=1 x=[10,20,30] k=1
fsmc run -Wno-unused-let figure8.fsm once z=1 x=[10,20,30] k=3
fsmc run -Wno-unused-let figure8.fsm once z=1 x=[10,20,30] k=-1
