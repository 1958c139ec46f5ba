cat >"$FSMC_TEST_TMP/null.c" <<'END'
#include "fsmc/runtime.h"
#include <stdio.h>
int main(void) { return puts(fsm_context_error(NULL)) < 0; }
END
$CC -I"$FSMC_ROOT/include" "$FSMC_TEST_TMP/null.c" -L"$FSMC_BUILD" -lfsmrt -lm -o "$FSMC_TEST_TMP/null" && "$FSMC_TEST_TMP/null"
