for how in --interp -O0 -O2; do
    for e in arms arm; do fsmc run $how same_variable_guards.fsm $e 'x=[1,2,3]' m=3; done
    fsmc run $how same_variable_guards.fsm large a=[1] b=[1] c=[1] d=[1] e=[1] g=[1] y=[1]
done
