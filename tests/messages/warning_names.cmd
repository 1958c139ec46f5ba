. ../errors/try.sh
try check -Wunused-lett x.fsm
try check -W what x.fsm
try check -Werror=unused-sise x.fsm
try check -Wno- x.fsm
try check -W
