fsmc --target=cuda --fp=fast --emit=loops products.fsm
fsmc --target=cuda --fp=precise --emit=loops products.fsm | grep -c "block for"
fsmc --target=cuda --fp=fast --emit=cuda products.fsm | grep -A 1 is_product
