for e in kept changed net again parts some twice; do
    fsmc --emit=loops --entry=$e copies.fsm -o - |
        awk -v e=$e '$1 == "new" { new++ } $1 == "copy" { copy++ } $1 == "fill" { fill++ } / \+= / { add++ }
                     END { printf "%s: arrays %d, copies %d, fills %d, additions %d\n", e, new, copy, fill, add }'
done
w='[[[0.1,0.2],[0.3,0.4]],[[0.5,0.6],[0.7,0.8]]]'
fsmc cost copies.fsm net "w=$w" 's=[[1,2],[0.5,0.25]]' 'x=[0.1,0.2]' m=3
fsmc cost copies.fsm again "w=$w" 'x=[0.1,0.2]' 'y=[1,2]' m=3
