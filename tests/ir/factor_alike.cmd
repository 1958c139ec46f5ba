echo "$(fsmc --fp=fast --emit=loops -o - factor_alike.fsm | grep -cE ' \* ') products in an iteration"
for how in --interp -O2; do fsmc run $how factor_alike.fsm both x=[0.5,-1] a=0.5 c=[2,1] dy=[1,3] | sed -E 's/([0-9]\.[0-9]{10})[0-9]*/\1/g'; done
