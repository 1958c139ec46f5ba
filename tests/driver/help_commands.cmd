# Help of each command, in the width of the terminal; `fsmc help` and --help say the same.
. ../errors/try.sh
unset COLUMNS
try help cost
try help help
COLUMNS=50 fsmc help check
for command in '' run cost check parse help; do
    fsmc help $command >"$FSMC_TEST_TMP/a"
    fsmc $command --help | cmp - "$FSMC_TEST_TMP/a" || echo "help of '$command' differs"
    for columns in 1 40 60 80 100 100000 x; do
        COLUMNS=$columns fsmc help $command >"$FSMC_TEST_TMP/help"
        awk -v width=$columns 'BEGIN { if (width ~ /x/) width = 100; if (width < 40) width = 40; if (width > 120) width = 120 }
            # what cannot be broken: a row of one word, an example, a synopsis
            length($0) > width && !/^  (fsmc|echo|--?[^ ]*$)/ && $2 != "" { print FILENAME ": " $0 }' "$FSMC_TEST_TMP/help"
    done
done
try help rn
try help run cost
try help everything
try chekc m.fsm
try chekc
try chekc.fsm
fsmc --version | sed 's/[0-9][0-9.]*/N/; s/target .*-.*/target TRIPLE/'
