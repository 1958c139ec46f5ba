. ./engines.sh
for u in '[]' '[1]' '[1, 2, 0.5]'; do
    check periodic.fsm shifted u="$u"
    check periodic.fsm steps u="$u"
done
for m in 0 2 -2; do
    fails periodic.fsm other u=[1,2] i=3 m=$m
    fails periodic.fsm other u=[1,2] i=-3 m=$m
done
fsmc --emit=loops --entry=steps -o - periodic.fsm | grep -c check
for u in '[1, 2]' '[1, 2, 3, 4]' '[1, 2, 3, 4, 5, 6, 7, 8]'; do
    fsmc cost periodic.fsm steps u="$u"
done
