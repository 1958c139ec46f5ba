for how in --interp --exec -O0 -O2; do
    for run in 'later b=[1,2,0]' 'laterSize b=[] k=1' 'laterSize b=[1] k=1' 'laterSize b=[1,2] k=1' 'earlier b=[1,1,0]'; do
        echo "$run: $(fsmc run $how conditions.fsm $run 2>&1)"
    done
done | sort | uniq -c | sed 's/^ *//'
