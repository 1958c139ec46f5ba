# Everything is below 1e-14; `arrays` by hand: s = x³ + x + 2 for n = 3, so 12 and 13 at 2.
small() { fsmc run figure7.fsm "$@" | tr -d '[] ' | tr , '\n' | awk '{ bad += !($1 < 1e-14); n++ } END { print n " rules, " bad+0 " wrong" }'; }
for x in 0.5 -1.25; do small scalars x=$x; small core x=$x; done
fsmc run figure7.fsm arrays x=2 n=3
