# A debugger stops at a line of the program, in an object and in code that run has made in memory.
command -v gdb >/dev/null || { echo "gdb is not installed"; exit 77; }
cp lines.fsm "$FSMC_TEST_TMP" && cd "$FSMC_TEST_TMP" || exit 1
cat > main.c <<'END'
#include "lines.h"
int main(void) {
    double x[] = {1, 2, 3}, y;
    int64_t k[] = {2, 1, 0};
    fsm_context *ctx = fsm_context_new();
    int code = walk(ctx, 3, x, k, &y);
    fsm_context_free(ctx);
    return code || y != 2.75;
}
END
fsmc -g -O1 lines.fsm && $CC -I "$FSMC_ROOT/include" main.c lines.o "$FSMC_BUILD/libfsmrt.a" -lm -o main && ./main ||
    echo "exit $?"
export ASAN_OPTIONS=detect_leaks=0 # does not work under a debugger
gdb -nx -batch -ex 'break lines.fsm:11' -ex run -ex 'backtrace 1' ./main 2>&1 | grep -o 'walk.* () at .*\|^11.*' | sort -u
gdb -nx -batch -ex 'set breakpoint pending on' -ex 'break fit' -ex run -ex 'backtrace 1' --args \
    "$(command -v fsmc)" run -g lines.fsm fit a=1 b=0 'x=[1,2,3]' 'y=[2,1,0]' 2>&1 | grep -o ' fit () at .*' | sort -u
