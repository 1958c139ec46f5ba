sh nvcc.sh primitives.cu
