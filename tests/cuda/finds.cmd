sh shim.sh finds
