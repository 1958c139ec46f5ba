# Each mutant of the table changes something: a row whose line is gone tells nothing.
cd "$FSMC_ROOT/tests/mutation"
grep -v '^#' rules.tsv | while IFS="$(printf '\t')" read -r name file script words; do
    [ "$name" ] && [ "$words" ] || echo "a row without a name or words: $name"
    if sed -E "$script" "$FSMC_ROOT/src/ad/$file" | cmp -s - "$FSMC_ROOT/src/ad/$file"; then echo "changes nothing: $name"; fi
done
grep -v '^#' rules.tsv | cut -f 1 | sort | uniq -d
echo done
