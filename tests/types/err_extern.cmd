for f in err_extern err_externs err_extern_ad err_extern_sizes err_extern_results err_extern_results_ad err_extern_many; do fsmc check $f.fsm; done
