# The same values as `fsmc run`.
sh run.sh against_run
