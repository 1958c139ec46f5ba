# zsh loads the script, which defines a completion of fsmc.
command -v zsh >/dev/null || { echo "there is no zsh"; exit 77; }
cd "$FSMC_TEST_TMP" || exit 1
fsmc completion zsh >_fsmc
zsh -n _fsmc && zsh -fc 'autoload -U compinit && compinit -u -D && . ./_fsmc && echo "$_comps[fsmc]"' && head -1 _fsmc
