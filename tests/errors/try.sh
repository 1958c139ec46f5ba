# Sourced by the tests.

# try ARGS...: runs fsmc; shows the command, what it prints, and its exit status if that is not 0.
try() {
    echo "\$ fsmc $*"
    fsmc "$@" 2>&1
    status=$?
    [ $status -eq 0 ] || echo "exit $status"
}

# repeat TEXT N: TEXT N times.
repeat() { awk -v s="$1" -v n="$2" 'BEGIN { for (i = 0; i < n; i++) printf "%s", s }'; }
