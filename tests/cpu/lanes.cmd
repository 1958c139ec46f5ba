# The same to 12 digits with any number of lanes, bit for bit from run to run, and the same error, of the first lane that fails.
x='[0.1,0.2,-0.3,0.4,0.5,-0.6,0.7,0.8,0.9,1.0,-1.1,1.2,0.3,0.4,-0.9,0.2,0.7,0.5,0.6,-0.1,0.3]'
is='[0,1,2,3,4,5,6,7,8,9,77,11,12,99,14,15,16,17,18,19,20]'
for n in 0 2 4 8 auto; do
    once=$(fsmc run --lanes=$n lanes.fsm f "x=$x" 'w=[0.5,-0.25,1]')
    again=$(fsmc run --lanes=$n lanes.fsm f "x=$x" 'w=[0.5,-0.25,1]')
    [ "$once" = "$again" ] || echo "$once, then $again"
    echo "$once" | grep -oE '[-0-9.e]+' | awk '{ printf "%.11g ", $1 } END { print "" }'
    fsmc run --lanes=$n lanes.fsm fails "x=$x" "is=$is" 2>&1
done
