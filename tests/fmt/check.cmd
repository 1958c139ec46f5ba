cp style.fsm "$FSMC_TEST_TMP" && cd "$FSMC_TEST_TMP"
fsmc fmt style.fsm > once.fsm && cp once.fsm good.fsm
echo "--check"; fsmc fmt --check style.fsm good.fsm once.fsm; echo "exit $?"
chmod 640 style.fsm && ln -s style.fsm link.fsm
echo "-i through a link"; fsmc fmt -i link.fsm good.fsm; cmp style.fsm once.fsm && stat -c %a style.fsm; test -L link.fsm && ls *.fsm*
echo "standard input"; printf 'let  f x=\n      x\r\n\n\n\n' | fsmc fmt -
printf 'let x = 1' | fsmc fmt --check -; echo "exit $?"
printf 'let  f x=x' | fsmc fmt --check -; echo "exit $?"
echo "errors"; printf 'let f x = (x\nlet g = 1\n' > bad.fsm; cp bad.fsm keep.fsm
fsmc fmt -i bad.fsm; echo "exit $?"; cmp bad.fsm keep.fsm
fsmc fmt -i -; echo "exit $?"
fsmc fmt -i --check x.fsm; echo "exit $?"
fsmc fmt; echo "exit $?"
fsmc fmt missing.fsm; echo "exit $?"
fsmc fmt -i "$FSMC_ROOT/examples/../missing.fsm" 2>&1 | sed 's/`.*missing/`missing/'
echo "empty"; printf '' | fsmc fmt -; printf '\n\n  // only a comment\n\n' | fsmc fmt -
