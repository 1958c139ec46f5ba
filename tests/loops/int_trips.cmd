# No check of an index; what an iteration of the walk costs does not depend on m.
fsmc int_trips.fsm --emit=loops --entry kept --disable-pass=checkpoint | grep -c 'out of range'
fsmc run int_trips.fsm kept x=0.5 n=-3
for n in 10 20 40; do fsmc cost int_trips.fsm walk 'a=[1, 2, 3, 4]' x=0.5 n=$n --disable-pass=checkpoint; done
