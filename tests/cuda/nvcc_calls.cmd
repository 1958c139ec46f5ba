sh nvcc.sh call.cu && sh nvcc.sh pool.cu
