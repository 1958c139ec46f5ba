# The help, without the list of passes.
fsmc --help | sed '/^Passes/,/^$/d'
fsmc check -h
fsmc --version | sed "s|[0-9][0-9.]*|N|; s|target .*-.*|target TRIPLE|"
for command in '' run cost check parse; do fsmc $command --help >/dev/null || echo "$command fails"; done
