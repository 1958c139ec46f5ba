# Additions listed by iterations that list more or less: results are those of the host's code in all orders, and no thread has a
# copy of a large array, for which the device has no room.
case $CC in *fsanitize*) echo "the run-time library is sanitized otherwise"; exit 77 ;; esac
out=$FSMC_TEST_TMP
fsmc -O0 lists.fsm -o "$out/cpu.o" && mv "$out/cpu.h" "$out/lists.h" || exit
fsmc --target=cuda --emit=cuda,header lists.fsm -o "$out/lists"
cp lists.cpp "$out" && cd "$out" || exit
build() { ${FSMC_CXX:-g++} -std=c++17 -O0 -I "$FSMC_ROOT/include" -I . "$@" -x none "$FSMC_BUILD/libfsmrt.a" -lm -pthread; }
build lists.cpp cpu.o -o cpu && ./cpu >want && ./cpu large >want_large
sed -n '/_device(/s/(.*//p; s/.*\(fsm::places_in_list\).*/\1/p; s/.*\(fsm::by_[a-z]*\).*/\1/p' lists.cu
build -w -DGPU -x c++ lists.cu lists.cpp -o copies && ./copies 2>&- | cmp - want
build -w -DGPU -DFSM_MOST_COPY=16 -DFSM_BLOCK=32 -x c++ lists.cu lists.cpp -o lists && ./lists 2>&1 >/dev/null
for order in '' reverse blocks=3 guard late others; do FSM_CUDA_SHIM=$order ./lists 2>&- | cmp - want && echo "as on the host"; done
FSM_CUDA_SHIM=memory=20000000 ./copies large 2>&- | cmp - want_large && echo "as on the host"
cat want
