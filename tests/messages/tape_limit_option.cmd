for v in 12X 0 K -1 99999999999G 1MB; do fsmc check --tape-limit=$v x.fsm; done 2>&1
