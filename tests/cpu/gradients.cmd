. ./engines.sh
check gradients.fsm norm2_grad 'v=[1, 2, 3]'
check gradients.fsm softmax 'v=[1, 2, 3]'
check gradients.fsm quadratic 'm=[[1, 2], [3, 4]]' 'v=[1, -1]'
check gradients.fsm squares_jacobian 'v=[1, 2, 3]'
check gradients.fsm directional 'v=[1, 2]' 'dv=[0.5, 0.25]'
check gradients.fsm second x=0.5
