# What bash offers. Its words are split at '=' and '@', as COMP_WORDS has them.
command -v bash >/dev/null || { echo "there is no bash"; exit 77; }
cd "$FSMC_TEST_TMP" || exit 1
mkdir models
printf 'entry f (x: Double) = x\nentry  grad_f (x: Double) = x\nlet g x = x\n  entry no\n' >m.fsm
printf 'func loss(x: f64) -> f64 {\n' >v.ir
touch m.o data.npy
fsmc completion bash >fsmc.bash
cat >offer.bash <<'END'
. ./fsmc.bash
compopt() { echo "($*)"; }
offer() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    echo "\$ $*"
    _fsmc
    printf '  %s\n' "${COMPREPLY[@]}" | LC_ALL=C sort
}
offer fsmc --em
offer fsmc --emit = ob
offer fsmc --emit = l
offer fsmc --emit ir,l
offer fsmc --emit = fsm,ir,h
offer fsmc ch
offer fsmc run ''
offer fsmc run m
offer fsmc run m.fsm ''
offer fsmc cost -O0 v.ir l
offer fsmc run --fp fast m.fsm gr
offer fsmc run --fp = fast -I models m.fsm gr
offer fsmc run m.fsm f x =@ da
offer fsmc run m.fsm f x =@
offer fsmc run m.fsm f x = 1
offer fsmc @ m
offer fsmc --fp = c
offer fsmc --disable-pass = un
offer fsmc --dump-after el
offer fsmc -I mo
offer fsmc -MF m
offer fsmc -MT m
offer fsmc -M
offer fsmc -O
offer fsmc -Wno-unused-s
offer fsmc m.fsm --entry =
offer fsmc --explain = lo
offer fsmc --explain m
offer fsmc check --int
offer fsmc run --int
offer fsmc help pa
offer fsmc help check c
offer fsmc completion ''
offer fsmc man ''
offer fsmc -o x run
END
bash offer.bash
bash -n fsmc.bash && bash -c '. ./fsmc.bash; complete -p fsmc'
