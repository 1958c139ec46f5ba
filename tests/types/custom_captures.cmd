for how in --interp --exec --fp=fast; do fsmc run $how custom_captures.fsm compiled x=0.7 s=1.3 t=2 u=1.5 v=3; done
for entry in 'interpreted p=[0.3,0.7] s=1.3' 'gradients x=0.7' 'inRule s=1.3'; do
  for how in --interp -O0; do fsmc run $how custom_captures.fsm $entry; done
done
