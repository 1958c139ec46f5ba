export ASAN_OPTIONS=detect_leaks=0 # the checker of one page ends with it
# The checker of pages finds every fault of a page.
fsmc_tests --page tests/pages/broken.md 2>&1
