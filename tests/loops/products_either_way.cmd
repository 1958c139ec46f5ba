# a * b is b * a: the loop of the value is that of the gradient, and does not run besides. What is more is tanh as it is kept, and cos.
for e in value both; do
    fsmc cost --fp=fast products_either_way.fsm $e 'wx=[[1,2],[3,4],[5,6],[7,8]]' 'wh=[[0.1,0.2],[0.3,0.4],[0.5,0.6],[0.7,0.8]]' 'b=[1,2,3,4]' \
        'x=[[[1,2]],[[3,4]],[[5,6]]]' 'h0=[[0.1,0.2]]' | tr -d '\n' | sed 's/.*"call": \([0-9]*\).*/'"$e"': \1 calls\n/'
done
