# Products with triangles of matrices (lower/triangle.c): which are seen, and that results are those of the host's code.
case $CC in *fsanitize*) echo "the run-time library is sanitized otherwise"; exit 77 ;; esac
out=$FSMC_TEST_TMP
entries='--entry=gradient --entry=strict --entry=symmetric --entry=gmm'
fsmc -O1 $entries triangles.fsm -o "$out/cpu.o" && mv "$out/cpu.h" "$out/triangles.h" || exit
cp triangles.cpp "$out"
for how in contract fast; do fsmc --target=cuda --fp=$how $entries --emit=cuda,header triangles.fsm -o "$out/$how" || exit; done
cd "$out" || exit
build() { ${FSMC_CXX:-g++} -std=c++17 -O0 -I "$FSMC_ROOT/include" -I . "$@" -x none "$FSMC_BUILD/libfsmrt.a" -lm -pthread; }
build triangles.cpp cpu.o -o cpu && ./cpu >want
sed -n '/matmul_factors/s/.*fsm::cuda::\(Triangles{[^}][^}]*}\).*/\1/p; /_device(/s/(.*//p' fast.cu
for how in contract fast; do
    build -w -x c++ $how.cu triangles.cpp -o gpu && ./gpu | diff - want && echo "as on the host"
done
