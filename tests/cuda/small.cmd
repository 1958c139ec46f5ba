fsmc --emit=cuda --entry=total --entry=pick small.fsm
fsmc --target=cuda --emit=loops --entry=steps small.fsm
