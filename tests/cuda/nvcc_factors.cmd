sh nvcc.sh factors.cu
