# sh each.sh FILE [OPTION]...: every entry of the file, which takes no arguments, and its value.
file=$1
shift
for entry in $(sed -n "s/^entry \([A-Za-z0-9_']*\) *=.*/\1/p" "$file"); do
    printf '%s ' "$entry"
    fsmc run "$@" "$file" "$entry"
done
