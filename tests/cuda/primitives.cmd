sh shim.sh primitives
