fsmc --emit=cuda extern.fsm
