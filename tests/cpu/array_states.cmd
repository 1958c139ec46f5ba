# The gradient, the gradient of the gradient, and the tangent of the gradient: operations, loads and stores grow linearly
# (of swap2 they do not: where elements of its second sweep are needed is not changed in place).
for e in put1 put2 put3; do echo "$e"; sh ../papers/growth.sh array_states.fsm $e x=vector y=vector; done
for e in gather swap bins; do
    for k in 1 2 3; do
        grep -q "entry $e$k" array_states.fsm || continue
        echo "$e$k"; sh ../papers/growth.sh array_states.fsm $e$k x=vector p=indices
    done
done
# What is stored, and what is undone.
for e in put1 gather1 window1 kept1 nested1 gates1; do
    fsmc --explain=loops --entry=$e -o "$FSMC_TEST_TMP/x.o" array_states.fsm
done
