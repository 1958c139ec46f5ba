# Sums that products make beside their results (lower/beside.c): their calls, and what is left to other kernels.
fsmc --target=cuda --fp=fast --emit=cuda ../ad/beside.fsm | sed -n '/_device(/s/(.*//p; s/.*fsm::cuda::\(matmul[^<]*<[^(]*\).*\(fsm::cuda::Sums<[^>]*>\).*\(true\|false\)});/\1 \2 \3/p; t; s/.*fsm::cuda::\(matmul[^<]*<[^(]*\).*/\1/p'
