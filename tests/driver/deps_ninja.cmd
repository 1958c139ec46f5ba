# ninja builds again what the rules say.
command -v ninja >/dev/null || { echo "there is no ninja"; exit 77; }
cd "$FSMC_TEST_TMP" || exit 1
echo 'let g x = x * x' >'a b$#c.fsm'
echo 'open "a b$#c.fsm"
entry f (x: Double) = g x' >m.fsm
cat >build.ninja <<'END'
rule fsm
  command = fsmc -MF $out.d $in -o $out
  depfile = $out.d
  deps = gcc
build m.o: fsm m.fsm
END
steps() { ninja | sed 's/.*no work.*/nothing/; s/^\[.*/compile/'; }
touch -d '1 hour ago' ./*.fsm
steps
steps
touch 'a b$#c.fsm'
steps
steps
