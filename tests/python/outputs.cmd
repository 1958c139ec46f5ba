# What --emit=python writes, and what keeps it from writing.
here=$PWD
case $CC in *-fsanitize*) echo "Python cannot load libraries with sanitizers" && exit 77 ;; esac
cd "$FSMC_TEST_TMP" || exit 1
printf 'entry f (x: Double) : Double = x\n' >f.fsm
mkdir out
fsmc --emit=python f.fsm && ls && rm f.py libf.so
fsmc --emit=python f.fsm -o out/model.py && ls out && grep _load\( out/model.py
fsmc --emit=python f.fsm -o out/text.py --library=libother.so && ls out && grep _load\( out/text.py
fsmc --emit=python f.fsm -o - --library=a\"b | grep '^_load('
fsmc --emit=python - -o out/stdin.py <f.fsm && grep '^"""' out/stdin.py
fsmc --emit=python f.fsm -MD -o out/m.py && cat out/m.d
fsmc --emit=python f.fsm -M
rm -r out
try() { echo "\$ $*"; "$@"; echo "exit $?"; }
cp f.fsm 2-f.fsm
cp f.fsm import.fsm
cp f.fsm g.py
{
    try fsmc --emit=python 2-f.fsm
    try fsmc --emit=python import.fsm
    try fsmc --emit=python f.fsm -o f.o
    try fsmc --emit=python f.fsm -o -
    try fsmc --emit=python - <f.fsm
    try fsmc --emit=python g.py
    try fsmc --library=libf.so f.fsm
    try fsmc --emit=python f.fsm -o nowhere/f.py --library=libf.so
    try env CC=no-such-compiler fsmc --emit=python f.fsm
    try env CC=false fsmc --emit=python f.fsm
    CC="  $CC  -O1 " fsmc --emit=python f.fsm
} 2>&1
ls
mkdir bin && ln -s "$(command -v fsmc)" bin && cp "$(command -v fsmc)" bin/moved
CC=cc PATH=$PWD/bin fsmc --emit=python f.fsm
echo "exit $?"
env -u CC PATH="$PWD/bin" fsmc --emit=python f.fsm
bin/moved --emit=python f.fsm
