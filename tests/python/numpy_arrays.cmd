# Arrays of numpy: what is used in place, what is copied, and what is refused.
sh run.sh numpy_arrays numpy
