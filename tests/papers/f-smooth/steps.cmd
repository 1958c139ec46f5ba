# Each line: the value, and what the optimised program is when it is short.
steps() {
    example=$1
    shift
    for entry in $(sed -n "s/^entry \($example[a-z]\) .*/\1/p" steps.fsm); do
        echo "$entry $(fsmc run steps.fsm $entry "$@") $(fsmc run --interp steps.fsm $entry "$@")"
        fsmc --emit=fsm --entry=$entry -o - steps.fsm | sed '/^\/\//d; /^$/d; s/^entry [^=]*= */  /'
    done
}
steps example1 u=[1,2] M=[[1,2,3],[4,5,6]] v=[3,4,5]
steps example2 a=0.5
steps example3 a=2 b=3
steps example4 x=2 y=3
steps example5 M=[[1,2,3],[4,5,6]]
steps example6 v=[1,2,3]
steps example7 v1=[1,2,3] v2=[4,5,6]
