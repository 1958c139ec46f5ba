# Four ways to the Hessian agree to 1e-10, and with differences of the gradient to 1e-4; so do the engines.
rounded() { tr -d '[]' | tr ',' '\n' | awk -v scale="$1" '{ x = $1 * scale; printf "%.0f ", x } END { print "" }'; }
for entry in gradOfGrad jvpOfGrad gradOfJvp jvpOfJvp; do
    compiled=-O1
    [ $entry = gradOfGrad ] && compiled=--exec # LLVM takes long
    for how in --interp $compiled; do
        printf '%s %s ' $entry $how
        fsmc run $how nested_optimisation.fsm $entry 'x=[0.7, 1.3]' | rounded 1e10
    done
done
printf 'differences '
fsmc run --interp nested_optimisation.fsm differences 'x=[0.7, 1.3]' | rounded 1e4
