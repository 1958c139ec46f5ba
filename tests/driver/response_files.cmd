# @FILE stands for the words in FILE.
. ../errors/try.sh
cd "$FSMC_TEST_TMP" || exit 1
echo 'entry dot (x: Double[n]) (y: Double[n]) = sum n (fun i -> x[i] * y[i])' >m.fsm
printf '%s\n' 'm.fsm dot' "'x=[1, 2,' 3]" >bad.txt
printf 'm.fsm\tdot\r\n"x=[1, 2]"  '"'y=[3, 4]'" >call.txt
try run @call.txt
printf 'run @call.txt' >nested.txt
try @nested.txt
printf 'y="[3, 4]" x=[1,\\ \\2]' >arguments.txt
try run m.fsm dot @arguments.txt
echo '[1, 2]' >v.json
try run m.fsm dot x=@v.json y=@v.json
printf "m.fsm '' \"a\\\\\"b\" 'a\\\\b'" >empty.txt
try @empty.txt
printf -- '-- @call.txt' >end.txt
try check @end.txt
try check -- @call.txt
: >nothing.txt
try check @nothing.txt m.fsm
try run @bad.txt
echo '@loop.txt' >loop.txt
try @loop.txt
echo '"m.fsm' >open.txt
try @open.txt
try @missing.txt
try @.
try @
printf 'a\0b' >zero.txt
try @zero.txt
try run m.fsm dot @
try --emit=ir -o @out.ir m.fsm
cat @out.ir
