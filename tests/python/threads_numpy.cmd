# Calls from several threads: right values, a context each, freed with the thread, and other threads run meanwhile.
sh run.sh threads numpy
