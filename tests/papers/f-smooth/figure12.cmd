# distort: rsq = 25, L = 1 + 0.5 * 25 + 0.25 * 625 = 169.75. rotated: a quarter turn about the third axis.
# projected: a camera at (1, 2, 3) turned by half a turn about the first axis sees (2, 4, 8), less the camera's place
# (1, 2, 5), as (1, -2, -5), so (-0.2, 0.4), rsq = 0.2, L = 1 + 0.1 * 0.2 + 0.5 * 0.04 = 1.04, times 10, plus (100, 200).
rounded() { awk '{ gsub(/[],[]/, " & "); for (i = 1; i <= NF; i++) printf "%s", $i ~ /[0-9]/ ? sprintf("%.9g", $i) : $i; print "" }'; }
fsmc run figure12.fsm distorted radical=[0.5,0.25] proj=[3,4]
fsmc run figure12.fsm rotated rotation=[0,0,1.5707963267948966] x=[1,2,3] | rounded
fsmc run figure12.fsm projected cam=[3.141592653589793,0,0,1,2,3,10,100,200,0.1,0.5] x=[2,4,8] | rounded
cam=[0.1,-0.2,0.3,0.5,0.25,-4,500,320,240,0.01,-0.002]
fsmc run figure12.fsm jacobian11 cam=$cam x=[[1,2,3],[-1,0.5,2]] | rounded
for p in [1,2,3] [-1,0.5,2] [0,0,1]; do fsmc run figure12.fsm modes cam=$cam p=$p; done
