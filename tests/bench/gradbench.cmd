# Messages of GradBench and their answers, without the times; results to 9 digits.
tool() { "$FSMC_BUILD/fsmc-gradbench" "$@"; }
answers() { sed -E 's/, "timings": .*\]/, TIMES/' | awk '{ out = ""
    while (match($0, /-?[0-9]+\.[0-9]+(e[-+][0-9]+)?/)) { out = out substr($0, 1, RSTART - 1) sprintf("%.9g", substr($0, RSTART, RLENGTH)); $0 = substr($0, RSTART + RLENGTH) }
    print out $0 }'; }
# call MODULE FUNCTION INPUT…
call() {
    echo '{"id": 0, "kind": "start", "eval": "'$1'"}' && echo '{"id": 1, "kind": "define", "module": "'$1'"}'
    module=$1 id=2 && shift
    while [ $# -gt 0 ]; do
        echo '{"id": '$id', "kind": "evaluate", "module": "'$module'", "function": "'$1'", "input": '"$2"'}'
        id=$((id + 1)) && shift 2
    done
    echo '{"id": '$id', "kind": "analysis", "of": 2, "valid": true}'
}
all() { echo "$1" && call "$@" | tool "$FSMC_ROOT/bench/gradbench" | answers; }
all hello square 1.5 double 1.5
all lse primal '{"x": [1, 2, 1000], "min_runs": 3}' gradient '{"x": [1, 2, 1], "min_seconds": 0.001}'
all llsq primal '{"x": [1, 2, 0.5], "n": 5}' gradient '{"x": [1, 2, 0.5], "n": 5}'
all det primal '{"A": [1, 2, 3, 4, 5, 6, 7, 8, 10], "ell": 3}' gradient '{"A": [1, 2, 3, 4, 5, 6, 7, 8, 10], "ell": 3}'
clusters='{"points": [[1, 2], [3, 5], [4, 4]], "centroids": [[1, 1], [3, 4]]}'
all kmeans cost "$clusters" dir "$clusters"
all ode primal '{"x": [1, 2, 3], "s": 10}' gradient '{"x": [1, 2, 3], "s": 10}'
mixture='{"d": 2, "k": 2, "n": 3, "alpha": [0.1, 0.2], "mu": [[0, 1], [2, 1]], "q": [[0, 0.1], [0.2, 0.3]], "l": [[1], [-1]],
    "x": [[1, 2], [0, 1], [2, 2]], "gamma": 0.7, "m": 3}'
all gmm objective "$(echo $mixture)" jacobian "$(echo $mixture)"
memory='{"main_params": [[1, 2, 3, 4], [0.1, 0.2, 0.3, 0.4]], "extra_params": [[1], [2], [3]], "state": [[0.1], [0.2]],
    "sequence": [[1], [0], [1]]}'
all lstm objective "$(echo $memory)" jacobian "$(echo $memory)"
cameras='{"n": 2, "m": 3, "p": 12, "cam": [0.1, 0.2, 0.3, 1, 2, 3, 500, 10, 20, 0.01, 0.001], "x": [1, 3, 9], "w": 0.5, "feat": [3, 4]}'
all ba objective "$cameras" jacobian "$cameras"
eye='[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]' zeros='0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0'
hand='"theta": [0.1, 0.2, 0.3, 1, 2, 3, '$zeros'], "data": {"model": {"bone_names": ["a", "b"], "parents": [-1, 0],
    "base_relatives": ['$eye', '$eye'], "inverse_base_absolutes": ['$eye', '$eye'], "is_mirrored": false,
    "base_positions": [[1, 0, 0, 1], [0, 2, 0, 1], [0, 0, 3, 1]], "weights": [[1, 0], [0.25, 0.75], [0, 1]],
    "triangles": [[0, 1, 2]]}, "correspondences": [CORR], "points": [[1, 1, 1]]}'
simple="{\"us\": [], $(echo $hand | sed s/CORR/2/)}" complicated="{\"us\": [[0.5, 0.25]], $(echo $hand | sed s/CORR/0/)}"
all ht objective "$simple" jacobian "$simple" objective "$complicated" jacobian "$complicated"
start='{"start": [1, 1]}'
all saddle ff "$start" fr "$start" rf "$start" rr "$start" | sed -E 's/([0-9]\.[0-9]{4})[0-9]*/\1/g'
all particle ff '{"w": 0}' fr '{"w": 0}' rf '{"w": 0}' rr '{"w": 0}' | sed -E 's/([0-9]\.[0-9]{6})[0-9]*/\1/g'
echo 'what does not fit'
all hello cube 1 square '[1]' square '{}' square '"a"'
all nothing
echo '{"id": 1, "kind": "define", "module": "hello"}' | tool --fp=wrong "$FSMC_ROOT/bench/gradbench"
echo '{"id": 0, "kind"' | tool "$FSMC_ROOT/bench/gradbench"; echo "exit $?"
echo '{"kind": "start"}' | tool "$FSMC_ROOT/bench/gradbench"; echo "exit $?"
tool; echo "exit $?"
