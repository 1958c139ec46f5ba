sh shim.sh pool
