# --debug-nan: the first operation that makes a NaN of numbers is an error, in every engine; what is not needed, and
# NaN that is passed in, is not.
file=nan.fsm
. ./nan.sh
nan root x=0.5
nan root x=2
nan guarded x=-1
nan bracket 'x=[1,-1,0]'
nan quotient 'x=[1,0,0]' 'y=[0,1,0]'
nan quotient 'x=[1,0]' 'y=[0,1]'
nan passed 'x="NaN"'
nan infinities 'x=["Infinity",1,"-Infinity"]'
nan infinities 'x=["Infinity",1,"NaN","-Infinity"]'
nan unused x=-1
nan rest x=1
nan slope x=-1 p=0.5
nan narrow x=1
nan iterated x=1.5
nan both x=-1
nan both x=4.5
nan area x=0.5
nan bits x=-1
