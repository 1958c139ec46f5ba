# Memory stays flat over many calls, with errors, with new threads, and with results that are dropped.
sh run.sh memory
