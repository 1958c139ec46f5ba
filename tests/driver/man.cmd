# The manual page: roff has nothing to say against it, and no line of text begins like a request.
command -v groff >/dev/null || { echo "there is no groff"; exit 77; }
fsmc man >"$FSMC_TEST_TMP/fsmc.1"
groff -ww -man -Tutf8 "$FSMC_TEST_TMP/fsmc.1" >/dev/null
grep -v '^\.\(TH\|SH\|SS\|TP\|B\|BI\|BR\|RI\|IR\|br\) *' "$FSMC_TEST_TMP/fsmc.1" | grep "^['.]"
sed -n 's/^\.SH //p' "$FSMC_TEST_TMP/fsmc.1"
GROFF_NO_SGR=1 groff -man -Tutf8 -P-cbou "$FSMC_TEST_TMP/fsmc.1" | sed -n '/^ *--emit/,/^$/p; /^ *-O/,/^$/p; /^ *-h/,/^$/p'
