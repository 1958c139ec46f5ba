# Rows of no elements are not counted through, by threads of a device as little as by those of the processor.
case $CC in *fsanitize*) echo "the run-time library is sanitized otherwise"; exit 77 ;; esac
cp empty_rows.fsm empty_rows.cpp "$FSMC_TEST_TMP" && cd "$FSMC_TEST_TMP" || exit
build() { ${FSMC_CXX:-g++} -std=c++17 -O0 -I "$FSMC_ROOT/include" "$@" -x none "$FSMC_BUILD/libfsmrt.a" -lm -pthread -o calls; }
fsmc --emit=cuda,header empty_rows.fsm -o empty_rows && build -x c++ empty_rows.cu empty_rows.cpp && ./calls | tee want
fsmc --threads=2 empty_rows.fsm -o empty_rows.o && build empty_rows.cpp empty_rows.o -lmvec && ./calls | cmp - want
