# A sum, and how many lines have vectors.
for how in --exec -O0 -O2; do fsmc run $how integrator.fsm runge n=100 'p=[1.5, 1, 3, 1]' | cut -c1-14; done | uniq -c
echo "$(fsmc --emit=llvm -O2 --fp=fast --target-cpu=x86-64-v3 integrator.fsm | grep -c '<[248] x double>') vectors"
