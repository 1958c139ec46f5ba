# What goes with --target=cuda, and nvcc. It is replaced by a script, and by nothing.
try() { echo "$ fsmc $*"; fsmc "$@"; echo "exit $?"; }
cd "$FSMC_TEST_TMP" || exit
echo 'entry f (x: Double[n]) = sum n (fun i -> x[i] * x[i])' >f.fsm
cat >nvcc <<'END'
#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in
    -I | -o | -c) [ "$1" = -o ] && : >"$2"; shift ;;
    *) printf '%s ' "$1" ;;
    esac
    shift
done
echo
END
chmod +x nvcc
export FSM_NVCC="$PWD/nvcc"
try --target=cuda f.fsm && ls f.*
try --target=cuda --fp=precise --cuda-arch=sm_90,compute_100f f.fsm -o g.o && ls g.*
try --target=cuda f.fsm -o f.cu && grep -c __global__ f.cu
try --emit=cuda,header f.fsm -o k && ls k.*
FSM_NVCC=false try --target=cuda f.fsm -o h.o
FSM_NVCC=no-such-nvcc try --target=cuda f.fsm -o h.o
try --cuda-arch=sm_90 f.fsm
try --fast-atomics f.fsm
try --cublas f.fsm
try --target=cuda --cuda-arch=hopper f.fsm
try --target=cuda --emit=llvm f.fsm
ls
