sh shim.sh streams
