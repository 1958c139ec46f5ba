for f in err_extern err_externs err_extern_ad err_extern_sizes; do fsmc check $f.fsm; done
