# With numpy: the same values.
sh run.sh values numpy
