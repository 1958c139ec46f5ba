#!/bin/sh
# go.sh [WORD]...: in a folder that run.sh --pack has made, builds the benchmark with nvcc, and runs it and its peers.
# FSM_NVCC is nvcc, FSM_ARCH the kind of GPU (native). FSM_JSON: a file for the figures.
set -eu
cd "$(dirname "$0")"
nvcc=${FSM_NVCC:-nvcc}
command -v "$nvcc" >which.txt || { echo "skipped: nvcc is not installed"; exit 77; }
blas='-DFSM_CUDA_CUBLAS -lcublas'
echo '#include <cublas_v2.h>' >blas.cu
"$nvcc" -E blas.cu >which.txt 2>&1 || blas=
cc -std=gnu11 -O2 -I include -c runtime/*.c
# shellcheck disable=SC2086 # words
"$nvcc" -std=c++17 -O3 -arch="${FSM_ARCH:-native}" -I include run.cu programs.cu ./*.o $blas -o run
"${FSM_RUN:-./run}" expected.txt ${FSM_JSON:+--json "$FSM_JSON"} "$@"
python3 peers.py "$@" || echo "the peers were not all measured"
