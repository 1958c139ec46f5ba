# The functions of the module do not use Python's own names, which entries may hide.
sh run.sh hidden
