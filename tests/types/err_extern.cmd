for f in err_extern err_externs err_extern_ad; do fsmc check $f.fsm; done
