# Code and work must not grow with the number of paths.
. ./engines.sh
check decisions.fsm chosen x=0.3
check decisions.fsm guarded x=0.3
check decisions.fsm elements 'v=[0.2, 0.4, 1.7]'
for entry in chosen guarded; do
    fsmc cost decisions.fsm $entry x=0.3
done
