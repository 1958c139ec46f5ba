# The checker of pages finds every fault of a page.
fsmc_tests --page tests/pages/broken.md 2>&1
