# make builds again what the rules say.
command -v make >/dev/null || { echo "there is no make"; exit 77; }
cd "$FSMC_TEST_TMP" || exit 1
echo 'let g x = x * x' >'a b$#c.fsm'
echo 'open "a b$#c.fsm"
entry f (x: Double) = g x' >m.fsm
cat >Makefile <<'END'
m.o: m.fsm
	@echo compile
	@fsmc -MD -MP m.fsm -o m.o
-include m.d
END
touch -d '1 hour ago' ./*.fsm
make
make
touch 'a b$#c.fsm'
make
rm 'a b$#c.fsm'
sed -i 's/^open.*/let g x = x/' m.fsm
make
make
