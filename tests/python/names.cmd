# Entries and parameters named like Python's own names, or the module's; names that two entries would share.
MODEL=names.fsm MODULE=clashing.py sh run.sh names || exit
cd "$FSMC_TEST_TMP" || exit 1
printf "entry f' (x: Double) : Double = x\nentry f_prime (x: Double) : Double = x\n" >clash.fsm
fsmc --emit=python clash.fsm
printf "entry pass (x: Double) : Double = x\nentry pass_ (x: Double) : Double = x\n" >clash.fsm
fsmc --emit=python clash.fsm
ls
