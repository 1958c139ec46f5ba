. ./try.sh
try
try --foo calls.fsm
try --emt=ir calls.fsm
try -x calls.fsm
try calls.fsm other.fsm
try check calls.fsm other.fsm
try run calls.fsm
try run calls.fsm square 3
try parse
