. ../errors/try.sh
try completion
try completion csh
try completion bash zsh
try completion bash -o "$FSMC_TEST_TMP/missing/fsmc"
try completion bash --emit=ir
try man fsmc
try man -o . && echo written
for shell in bash zsh fish; do
    fsmc completion $shell -o "$FSMC_TEST_TMP/a" && fsmc completion $shell | cmp - "$FSMC_TEST_TMP/a"
done
fsmc man -o "$FSMC_TEST_TMP/a" && fsmc man | cmp - "$FSMC_TEST_TMP/a"
