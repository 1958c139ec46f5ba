# What cmake --install puts where, and that the installed compiler works.
cmake --install "$FSMC_BUILD" --prefix "$FSMC_TEST_TMP/usr" >/dev/null || exit
cd "$FSMC_TEST_TMP/usr" || exit 1
for file in bin/fsmc lib*/libfsmrt.a lib/*/libfsmrt.a include/fsmc/runtime.h share/man/man1/fsmc.1 \
    share/bash-completion/completions/fsmc share/zsh/site-functions/_fsmc share/fish/vendor_completions.d/fsmc.fish; do
    [ ! -s "$file" ] || echo "${file##*/}"
done
bin/fsmc man | cmp - share/man/man1/fsmc.1
bin/fsmc completion bash | cmp - share/bash-completion/completions/fsmc
echo 'entry f (x: Double) = x * 2.0' | bin/fsmc run - f x=4
