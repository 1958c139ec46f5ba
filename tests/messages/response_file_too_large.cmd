cd "$FSMC_TEST_TMP" || exit 1
yes x | head -c 68000000 >words
fsmc @words
