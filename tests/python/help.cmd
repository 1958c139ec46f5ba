# What help() shows of entries, with the comments of the source.
sh run.sh help
