#!/bin/sh
# Deep and long sources either parse or meet a stated limit. Usage: limits.sh FSMC
set -eu
fsmc=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

# repeat TEXT N: TEXT N times.
repeat() { awk -v s="$1" -v n="$2" 'BEGIN { for (i = 0; i < n; i++) printf "%s", s }'; }

# expect NAME WANT: runs the parser on $dir/t.fsm; WANT is `ok` or a text of its messages.
expect() {
    status=0
    "$fsmc" parse "$dir/t.fsm" >"$dir/out" 2>"$dir/err" || status=$?
    if [ "$2" = ok ]; then
        [ "$status" -eq 0 ] && return
    elif [ "$status" -eq 1 ] && grep -q -- "$2" "$dir/err"; then
        return
    fi
    echo "limits: $1: status $status, wanted: $2" >&2
    head -c 300 "$dir/err" >&2
    failed=1
}

{ printf 'let x = '; repeat '(' 100000; printf 1; repeat ')' 100000; } >"$dir/t.fsm"
expect parentheses ok
{ printf 'let x = '; repeat '(' 300000; printf 1; repeat ')' 300000; } >"$dir/t.fsm"
expect 'more parentheses' 'nesting deeper than 200000 brackets'
{ printf 'let x = '; repeat '(' 100000; } >"$dir/t.fsm"
expect 'open parentheses' 'is not closed'
{ echo 'let x ='; awk 'BEGIN { for (i = 0; i < 100000; i++) printf "  let a%d = %d\n", i, i }'; echo '  a0'; } >"$dir/t.fsm"
expect 'let lines' ok
{ printf 'let x = '; repeat 'let a = 1 in ' 100000; echo a; } >"$dir/t.fsm"
expect 'let in' ok
{ printf 'let x = '; repeat 'let a = ' 20000; printf 1; repeat ' in a' 20000; } >"$dir/t.fsm"
expect 'nested let' 'nesting deeper than 10000 levels'
{ printf 'let x = 1'; repeat ' + 1' 9000; } >"$dir/t.fsm"
expect sum ok
for deep in '- ' 'f (' 'fun x -> ' 'if a then b else ' '[' '[|' 'a[' '#[a] '; do
    { printf 'let x = '; repeat "$deep" 20000; printf 1; } >"$dir/t.fsm"
    case $deep in
    *'(' | *'[' | *'|') expect "$deep" 'is not closed' ;;
    *) expect "$deep" 'nesting deeper than 10000 levels' ;;
    esac
done
{ printf 'let x: '; repeat 'Array<' 20000; printf Int; repeat '>' 20000; printf ' = 1'; } >"$dir/t.fsm"
expect types 'nesting deeper than 10000 levels'
{ repeat '(*' 100000; repeat '*)' 100000; } >"$dir/t.fsm"
expect comments ok
{ repeat 'let x = )
' 1000; } >"$dir/t.fsm"
expect errors '980 more errors not shown'
exit $failed
