# Factors of products that are made where they are needed (lower/factors.c): arrays that there still are, and products.
fsmc --target=cuda --fp=fast --emit=loops ../ad/factors.fsm | grep -E '^loops|  new '
fsmc --target=cuda --fp=fast --emit=cuda ../ad/factors.fsm | sed -n '/_device(/s/(.*//p; s/.*fsm::cuda::\(matmul_factors<[^(]*\).*/\1/p; s/.*fsm::cuda::\(matmul<.*\)(.*/\1/p; /^struct f[0-9]/,/^}/p'
