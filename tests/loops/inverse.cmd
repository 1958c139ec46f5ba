for fp in fast contract; do fsmc --fp=$fp --emit=loops -o - inverse.fsm | grep -E '^loops|/|sqrt'; done
for e in both powers products apart signs; do
    for how in --interp --fp=fast; do fsmc run $how inverse.fsm $e 'x=[1,2,3]' 'y=[0,1,-2]' | sed -E 's/(\.[0-9]{12})[0-9]*/\1/g'; done
done
