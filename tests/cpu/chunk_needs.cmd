for is in '[1, 2, 3]' '[]'; do
    for how in --interp "-O3 --threads=2" "-O2 --threads=3" "-O3 --fp=fast --threads=2"; do
        fsmc run $how chunk_needs.fsm tangent 'y=[0.5, 1]' "is=$is" 'd=[1, -1]' | sed 's/\(\.[0-9]\{12\}\)[0-9]*/\1/g'
    done | uniq
done
