# sh derive.sh FILE ENTRY [NAME=VALUE]...
# Prints the entry after optimisation as F̃, its result for the arguments, and what the call costs. What is printed must
# compile again, to the same program and the same result.
file=$1
entry=$2
shift
emitted=$FSMC_TEST_TMP/$entry.fsm
fsmc --emit=fsm --entry="$entry" -o "$emitted" "$file" || exit
cat "$emitted"
fsmc --emit=fsm -o "$emitted.again" "$emitted" && diff "$emitted" "$emitted.again" || exit
result=$(fsmc run "$file" "$@") || exit
again=$(fsmc run "$emitted" "$@") || exit
echo "$result"
[ "$result" = "$again" ] || echo "the printed program gives $again"
fsmc cost "$file" "$@"
