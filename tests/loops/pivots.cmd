for e in inverted solved; do fsmc --emit=loops --entry=$e pivots.fsm | grep -c 'out of range'; done
# how often the second derivatives have code for an elimination: each of what needs it once had its own
fsmc --emit=loops --lanes=0 --entry=curvature pivots.fsm | awk '/otherwise/ { exit } /abs\(/ { n++ } END { print n < 12 ? "few" : n }'
