emitted=$FSMC_TEST_TMP/emitted.fsm
fsmc --emit=fsm -o "$emitted" fsm_extents.fsm && cat "$emitted" || exit
for file in fsm_extents.fsm "$emitted"; do
    fsmc run "$file" pooled q=[1,2,3] 'x=[[1,2],[3,4],[5,6],[7,8]]' 'd=[[1,2,3,4,5,6],[2,3,4,5,6,7]]'
    fsmc run "$file" pairs 'x=[[[1,2],[3,4]],[[5,6],[7,8]]]' 'y=[[1,2],[3,4]]'
done
