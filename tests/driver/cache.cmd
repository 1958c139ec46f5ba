# Objects kept in a folder: made once for each entry, options and text; found as they were made; and a folder is no condition.
export FSMC_CACHE="$FSMC_TEST_TMP/kept/here"
mkdir "$FSMC_TEST_TMP/kept"
cat >"$FSMC_TEST_TMP/a.fsm" <<'END'
entry f (x: Double[n]) = sum n (fun i -> sin x[i])
entry g (x: Double[n]) = grad (fun x -> sum n (fun i -> sin x[i])) x
END
cd "$FSMC_TEST_TMP"
count() { echo "$1: $(ls kept/here | wc -l), $(ls kept/here | grep -cv '^[0-9a-f]\{16\}\.fsmc$') of others"; }
run() { fsmc run "$@"; }
run a.fsm f 'x=[1,2]' && count first
run a.fsm f 'x=[3]' && count 'other arguments'
run a.fsm g 'x=[1]' && count 'another entry'
run a.fsm f 'x=[1]' -O1 && count 'another level'
run a.fsm f 'x=[1]' --fp=precise && run a.fsm f 'x=[1]' --target-cpu=baseline && count 'other options'
run a.fsm f 'x=[1]' --interp && count 'no object'
echo '// a remark' >>a.fsm && run a.fsm f 'x=[2]' && count 'the same after a remark'
# Objects that are written, twice the same, and as without a folder.
fsmc a.fsm -o one.o && count 'an object file' && fsmc a.fsm -o two.o && count again && FSMC_CACHE= fsmc a.fsm -o three.o
cmp one.o two.o && cmp one.o three.o
# What is used becomes younger; what is not a whole file of ours is made again.
touch -d 2001-01-01 kept/here/* && run a.fsm f 'x=[1,2]' && echo "used: $(find kept/here -type f -newer a.fsm | wc -l)"
for f in kept/here/*; do head -c 100 "$f" >cut && cat cut >"$f"; done
run a.fsm f 'x=[1,2]' && echo "whole again: $(find kept/here -type f -size +1k | wc -l)"
for f in kept/here/*; do echo hello >"$f"; done
run a.fsm f 'x=[1,2]' && run a.fsm f 'x=[1,2]'
# The same name with another key: the least byte counts.
for f in $(find kept/here -type f -size +1k); do
    dd if=/dev/zero of="$f" bs=1 seek=40 count=1 conv=notrunc 2>dd && run a.fsm f 'x=[1,2]' && run a.fsm f 'x=[1,2]'
done
# Several at once.
rm -rf kept/here
for i in 1 2 3 4 5 6; do run a.fsm f 'x=[1,2]' >out.$i & done
wait
cat out.* | uniq -c | sed 's/^ *//' && count 'six at once'
# At most so many bytes, of which the oldest go; strangers stay.
rm -rf kept/here && mkdir kept/here && echo mine >kept/here/notes && echo x >kept/here/0123456789abcdef.left
touch -d 2001-01-01 kept/here/*
export FSMC_CACHE_SIZE=30K
for i in 1 2 3 4 5 6 7 8 9; do echo "entry f (x: Double) = $i + sin x" >b.fsm && fsmc run b.fsm f x=0; done | paste -sd' '
[ $(cat kept/here/*.fsmc | wc -c) -le 30720 ] && echo bounded
[ $(ls kept/here | wc -l) -gt 2 ] && ls kept/here | grep -v fsmc
FSMC_CACHE_SIZE=10 && rm -rf kept/here && fsmc run b.fsm f x=0 && ls kept
unset FSMC_CACHE_SIZE
# No folder, no file where there should be one, and none that may be written.
FSMC_CACHE=/dev/null/none fsmc run a.fsm f 'x=[1,2]'
FSMC_CACHE=$PWD/a.fsm fsmc run a.fsm f 'x=[1,2]'
FSMC_CACHE=$PWD/no/parent fsmc run a.fsm f 'x=[1,2]' && ls no 2>/dev/null
FSMC_CACHE= fsmc run a.fsm f 'x=[1,2]'
