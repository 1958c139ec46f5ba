# What fish offers.
command -v fish >/dev/null || { echo "there is no fish"; exit 77; }
cd "$FSMC_TEST_TMP" || exit 1
printf 'entry f (x: Double) = x\nentry grad_f (x: Double) = x\n' >m.fsm
export HOME=$PWD XDG_CONFIG_HOME=$PWD
fsmc completion fish >fsmc.fish
fish --no-config -c 'source fsmc.fish
for line in "fsmc --em" "fsmc --emit=ob" "fsmc --emit ir,l" "fsmc ch" "fsmc run m.fsm " "fsmc cost m" "fsmc --fp=" \
        "fsmc completion " "fsmc help r" "fsmc m.fsm --entry=" "fsmc -Wno-unused-s" "fsmc check --inter" "fsmc run --inter"
    echo "\$ $line"
    complete -C $line | string replace -r "\t.*" "" | LC_ALL=C sort
end'
