sh shim.sh call
