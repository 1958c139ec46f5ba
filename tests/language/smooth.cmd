# Derivatives at kinks that are none, and far from them, are the same by all engines; so are values, but those as written overflow.
short() { # numbers with nine digits
    sed 's/[][,]/ & /g' | awk '{ text = ""; for (i = 1; i <= NF; i++) text = text " " ($i ~ /^-?[0-9]/ ? sprintf("%.9g", $i + 0) : $i); print substr(text, 2) }' |
        sed 's/\[ */[/g; s/ *\([],]\)/\1/g'
}
calls() {
    sh each.sh smooth.fsm "$@"
    for x in 0 1.5 -2.25 800.25 -800.25 1e-9; do fsmc run "$@" smooth.fsm prelude x=$x; done
    for x in 0 0.5; do fsmc run "$@" smooth.fsm even x=$x; done
    for x in 1e-9 0.5 40; do fsmc run "$@" smooth.fsm differences x=$x; done
    for ab in '1 1' '1000 999' '"-Infinity" "-Infinity"' '"-Infinity" 1' '"Infinity" 1'; do fsmc run "$@" smooth.fsm sums a=${ab% *} b=${ab#* }; done
    for xy in '0 0' '0 1' '0 2' '1 0' '2 3'; do fsmc run "$@" smooth.fsm products x=${xy% *} y=${xy#* }; done
    for v in '[1000,999]' '["-Infinity",1]' '["-Infinity","-Infinity"]' '["Infinity",1,"Infinity"]'; do fsmc run "$@" smooth.fsm shares v=$v; done
}
calls --interp | short | tee "$FSMC_TEST_TMP/want"
for how in -O0 -O2 --fp=precise '-O3 --fp=fast' '--exec --lanes=8' '-O1 --fuel=0'; do
    calls $how | short | diff "$FSMC_TEST_TMP/want" - >"$FSMC_TEST_TMP/diff" || { echo "$how:"; cat "$FSMC_TEST_TMP/diff"; }
done
for how in --interp -O2 --fp=fast; do for x in 0 800 1e200; do fsmc run $how smooth.fsm values x=$x | short; done; done
for how in --interp -O2 --exec; do fsmc run $how smooth.fsm nowhere x=-1; done # --fp=fast has sqrt x * sqrt x = x
