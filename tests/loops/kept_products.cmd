# The loop computes 2 times 2 by 2 products of each kind, and reverse mode no more of them.
fsmc cost kept_products.fsm recurrenceGradient 'w=[[0.1,0.2],[0.3,0.4]]' 'u=[[0.5,0.6,0.7],[0.8,0.9,1]]' 'xs=[[[1,2,3],[4,5,6]],[[7,8,9],[1,2,3]]]' 'h=[[0.1,0.2],[0.3,0.4]]'
