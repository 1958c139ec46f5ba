# Errors of the program and of the arguments: class, code, text; the next call works after each.
sh run.sh errors
