// The fenced blocks of a page of documentation as tests (tests/README.md says what they mean).
#pragma once
#include <stdbool.h>

// Checks ROOT/PAGE in the folder of the environment variable FSMC_TEST_TMP, which is empty. Prints, like a unit
// program, "ok LINE", "not ok LINE: why" or "skip LINE: why" for every block, and details to standard error. With
// `update`, replaces output in the page that differs from what the commands print. Returns an exit status.
int page_check(const char *root, const char *page, bool update);
