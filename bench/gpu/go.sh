#!/bin/sh
# go.sh [WORD]...: in a folder that run.sh --pack has made, builds the benchmark with nvcc, and runs it and its peers.
# FSM_NVCC is nvcc, FSM_ARCH the kind of GPU (native). FSM_JSON: a file for the figures.
set -eu
cd "$(dirname "$0")"
nvcc=${FSM_NVCC:-nvcc}
command -v "$nvcc" >which.txt || { echo "skipped: nvcc is not installed"; exit 77; }
blas=-lcublas
echo '#include <cublas_v2.h>' >blas.cu
"$nvcc" -E blas.cu >which.txt 2>&1 || blas=
cc -std=gnu11 -O2 -I include -c runtime/*.c
for file in *.cu; do [ $file = blas.cu ] || echo $file; done |
    xargs -P 4 -I FILE "$nvcc" -std=c++17 -O3 -arch="${FSM_ARCH:-native}" $([ -z "$blas" ] || echo -DFSM_CUDA_CUBLAS) -I include -I . -c FILE -o FILE.o
# shellcheck disable=SC2086 # words
"$nvcc" -arch="${FSM_ARCH:-native}" ./*.o $blas -o run
json=${FSM_JSON:-times.json}
"${FSM_RUN:-./run}" expected.txt --json "$json" "$@"
"${FSMC_PYTHON:-python3}" peers.py ./run expected.txt "$json" || echo "the peers were not all measured"
