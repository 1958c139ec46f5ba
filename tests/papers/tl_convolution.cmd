sh derive.sh tl_convolution.fsm sensitivity x=[1,2,3,4,5,6] c=[1,10,100] n=4 || exit
sh derive.sh tl_convolution.fsm adjoint x=[1,2,3,4,5,6] c=[1,10,100] dy=[1,2,3,4] || exit
sh derive.sh tl_convolution.fsm gradient x=[1,2,3,4,5,6] c=[1,10,100] z=[1,2,3,4] || exit
sh derive.sh tl_convolution.fsm kernel x=[1,2,3,4,5,6] c=[1,10,100] z=[1,2,3,4]
