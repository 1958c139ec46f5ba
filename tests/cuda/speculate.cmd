# What a loop computes when it is first needed is computed before it, unless it may fail, or may not be there (lower/speculate.c).
for entry in units twice there others fails remainders lengthy table around; do
    fsmc --target=cuda --fp=fast --entry=$entry --emit=loops ../ad/speculate.fsm | sed -n 's/ otherwise {/&/p; /otherwise/q; s/(.*//; /loops\|grid for\|^  for\|if t.. {\|= false\| && /s/_[0-9]*\|[0-9][0-9]*//gp'
done
