# The same gradients by PyTorch and JAX: they run, on the processor, for small cases.
python=${FSMC_PYTHON:-python3}
"$python" -c "import jax, torch" 2>/dev/null || { echo "JAX or PyTorch is not installed"; exit 77; }
"$python" "$FSMC_ROOT/bench/gpu/peers.py" --cpu --small gmm kmeans lstm | awk 'NR > 1 { print $1, $2, ($3 > 0), ($4 > 0) }'
