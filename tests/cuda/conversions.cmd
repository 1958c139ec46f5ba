# Every conversion of every other of each kind, with what could make a declaration of it behind it: nvcc and C++ compilers take it.
cd "$FSMC_TEST_TMP" || exit
for kind in Double Float Int Bool; do
    for inner in double float int; do
        for outer in double float int; do
            echo "entry ${kind}_${inner}_${outer} (x: $kind[n]) (y: Double[n]) (f: Float[n]) (k: Int[n]) ="
            case $outer in double) other=y ;; float) other=f ;; int) other=k ;; esac
            echo "  build n (fun i -> $outer ($inner x[i]) - $other[i])"
        done
    done
done >conversions.fsm
fsmc --emit=cuda conversions.fsm -o conversions.cu || exit
${FSMC_CXX:-g++} -std=c++17 -O0 -Wall -Wextra -Wno-parentheses-equality -Wno-unused-function -I "$FSMC_ROOT/include" -x c++ -c conversions.cu -o conversions.o && echo "a C++ compiler takes it"
nvcc=${FSM_NVCC:-nvcc}
command -v "$nvcc" >/dev/null || exit 0
"$nvcc" -std=c++17 -arch=compute_80 -ptx -I "$FSMC_ROOT/include" conversions.cu -o conversions.ptx || echo "nvcc does not"
