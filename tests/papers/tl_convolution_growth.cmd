sh growth.sh tl_convolution.fsm sensitivity x=vector+2 c=[1,2,3] n=n || exit
sh growth.sh tl_convolution.fsm adjoint x=vector+2 c=[1,2,3] dy=vector || exit
sh growth.sh tl_convolution.fsm gradient x=vector+2 c=[1,2,3] z=vector || exit
sh growth.sh tl_convolution.fsm kernel x=vector+2 c=[1,2,3] z=vector
