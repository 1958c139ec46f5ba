# The goals for the scratch memory of derivatives. What reverse mode keeps of the LSTM is over its goal (docs/benchmarks.md).
case $CC in *-fsanitize*) echo "too slow with sanitizers" && exit 77 ;; esac
run() { sh "$FSMC_ROOT/bench/memory/run.sh" "$@"; }
{ run gmm ba kmeans && run lstm --lanes=0 && run lstm --lanes=0 --disable-pass=keep; } | sed -E 's/ +[0-9]+ bytes, goal +[0-9]+//'
