while read -r mark arguments; do
    case $mark in
    //) given=$arguments ;;
    entry)
        name=${arguments%% *}
        printf '%s\n' "$name"
        for how in --interp --exec -O0 -O2; do
            echo "$given" | sed 's/\([]0-9]\) \([[0-9]\)/\1, \2/g; s/.*/[&]/' | fsmc run $how int32.fsm "$name"
        done | uniq -c | sed 's/^ *//'
        ;;
    esac
done <int32.fsm
# The program that is printed stores the same.
fsmc --emit=fsm int32.fsm -o "$FSMC_TEST_TMP/printed.fsm" && cd "$FSMC_TEST_TMP" && sed -n '/^entry/p' printed.fsm &&
echo '[[1, 2.5], [3, 4]]' | sed 's/.*/[&]/' | fsmc run printed.fsm parts &&
fsmc run printed.fsm sizes k=3 'x=[1,2,3]' 'y=[1,2]'
# Files of numpy.
echo '[[[1, 2, 3], [4, 5, -6]]]' | fsmc run printed.fsm turned -o turned.npy && head -c 70 turned.npy | tail -c 60 && echo &&
od -An -td4 -j128 turned.npy && fsmc run printed.fsm same x=@turned.npy
