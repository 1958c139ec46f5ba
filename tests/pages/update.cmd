export ASAN_OPTIONS=detect_leaks=0 # the checker of one page ends with it
# --update writes what the commands print into the page, and keeps what matches.
mkdir "$FSMC_TEST_TMP/tree" && cd "$FSMC_TEST_TMP/tree" || exit 1
cat >page.md <<'END'
# Page

```console
$ echo one; echo two
one
…
$ echo three
$ echo four
five
six
```

After.
END
fsmc_tests --update --page page.md . 2>/dev/null
cat page.md
