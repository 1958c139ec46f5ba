# Several kinds of output at once, and the header alone.
. ../errors/try.sh
cd "$FSMC_TEST_TMP" || exit 1
mkdir src build
echo 'open "g.fsm"
entry f (x: Double) = g x
entry k (x: Double[n]) = sum n (fun i -> x[i])' >src/m.fsm
echo 'let g x = x * x' >src/g.fsm
try --emit=header src/m.fsm --entry=f | sed -n '/^#ifndef/p; /^int/p'
try --emit=obj,header src/m.fsm -o build/a.o && ls build
try --emit=ir,llvm,fsm --emit dot -MD src/m.fsm -o build/model
ls build
cat build/model.d build/model.out.fsm
for kind in ir llvm fsm dot; do
    case $kind in llvm) suffix=ll ;; fsm) suffix=out.fsm ;; *) suffix=$kind ;; esac
    fsmc --emit=$kind src/m.fsm | cmp - build/model.$suffix
done
try --emit=asm,loops src/m.fsm && ls
try --emit=fsm,fsm src/m.fsm --entry=f
try --emit=obj src/m.fsm -o x.o && sed s/X_F_H/A_F_H/ x.h | cmp - build/a.h
try --emit=ir,obj src/m.fsm -o -
try --emit=ir,obj - <src/m.fsm
try --emit=ir,what src/m.fsm
try --emit=ir, src/m.fsm
try --emit= src/m.fsm
cp src/m.fsm src/m.out.fsm
try --emit=ir,fsm src/m.out.fsm -o src/m
try --emit=ir,dot -MF build/model.dot src/m.fsm -o build/model
try --target=cpu --emit=fsm src/m.fsm --entry=k
try --target=gpu src/m.fsm
