# Grids along rows and of rows, tiles for sums of two elements, and grids that have become one: results are those of the host's code
# in several orders, with limits so small that all of them run, and as they are. What is printed first: how often which is taken.
case $CC in *fsanitize*) echo "the run-time library is sanitized otherwise"; exit 77 ;; esac
out=$FSMC_TEST_TMP
fsmc -O0 rows.fsm -o "$out/cpu.o" && mv "$out/cpu.h" "$out/rows.h" || exit
cp rows.cpp "$out"
for how in contract fast; do fsmc --target=cuda --fp=$how --emit=cuda,header rows.fsm -o "$out/$how" || exit; done
cd "$out" || exit
for word in contract\< by_rows 'by_blocks(.*true' places_of; do echo "$word: $(grep -c "fsm::.*$word" contract.cu)"; done
sed -n '/^struct f/,/^}/p' contract.cu | head -9
build() { ${FSMC_CXX:-g++} -std=c++17 -O0 -I "$FSMC_ROOT/include" -I . "$@" -x none "$FSMC_BUILD/libfsmrt.a" -lm -pthread; }
build rows.cpp cpu.o -o cpu && ./cpu | tee want
small='-DFSM_LEAST_INNER=2 -DFSM_LEAST_ROWS=2 -DFSM_MOST_COPY=1 -DFSM_ROWS_PART=2 -DFSM_LEAST_PRODUCT=2 -DFSM_BLOCK=64'
build -w -x c++ contract.cu rows.cpp -o gpu && ./gpu | diff - want && echo "as on the host"
build -w $small -x c++ contract.cu rows.cpp -o gpu
for order in '' reverse; do FSM_CUDA_SHIM=$order ./gpu | diff - want && echo "as on the host"; done
build -w $small -DFSM_ALONE=1 -DFSM_TEAMS=3 -x c++ contract.cu rows.cpp -o gpu && ./gpu | diff - want && echo "as on the host"
build -w $small -x c++ fast.cu rows.cpp -o gpu && FSM_CUDA_SHIM=blocks=3 ./gpu | diff - want && echo "as on the host"
