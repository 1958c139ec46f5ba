# The goals for the scratch memory of derivatives (docs/benchmarks.md).
case $CC in *-fsanitize*) echo "too slow with sanitizers" && exit 77 ;; esac
run() { sh "$FSMC_ROOT/bench/memory/run.sh" "$@"; }
{ run gmm ba kmeans && run lstm lstm128 --lanes=0; } | sed -E 's/ +[0-9]+ bytes, goal +[0-9]+//'
