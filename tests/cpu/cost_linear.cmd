# Each count grows with the steps, exactly; so does the time, or the last line would take minutes.
. ./cost.sh
for entry in steps stepsGradient; do linear $entry x=0.9 n=1000; linear $entry x=0.9 n=1000 --disable-pass=checkpoint; done
linear arrays 'x=[0.1, 0.2, 0.3]' steps=1000
linear indexed 'v=[1, 2, 3, 4, 5]' steps=1000
fsmc cost cost_executed.fsm steps x=0.9 n=1000000
fsmc cost cost_executed.fsm stepsGradient x=0.9 n=1000000
