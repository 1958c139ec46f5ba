# The same by PyTorch and JAX: they run, on the processor, for small cases, with the results of the CPU's code.
case $CC in *fsanitize*) echo "the run-time library is sanitized"; exit 77 ;; esac
command -v g++ >/dev/null || { echo "g++ is not installed"; exit 77; }
python=${FSMC_PYTHON:-python3}
"$python" -c "import jax, torch" 2>/dev/null || { echo "JAX or PyTorch is not installed"; exit 77; }
sh "$FSMC_ROOT/bench/gpu/run.sh" --shim --peers "gmm 7" "kmeans 3" "lstm 5" ba "hand 22x" "hand_complicated 22x" xs rs rk4 >"$FSMC_TEST_TMP/out" 2>"$FSMC_TEST_TMP/err" || cat "$FSMC_TEST_TMP/out" "$FSMC_TEST_TMP/err"
sed '1,/best . fsmc/d' "$FSMC_TEST_TMP/out" | awk '/^geometric/ { exit } { print $1, $2, ($4 > 0), ($5 > 0) } END { while (getline > 0) print }'
