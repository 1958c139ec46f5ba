// Options and exit codes.
#include "driver/driver.h"

#include <errno.h>
#include <llvm-c/Core.h>
#include <stdio.h>
#include <string.h>

static int usage_error(const char *message) {
    fprintf(stderr, "fsmc: error: %s\nTry `fsmc --help`.\n", message);
    return EXIT_USAGE;
}

// The exit code after printing to standard output.
static int printed(void) {
    if (!fflush(stdout) && !ferror(stdout)) return 0;
    fprintf(stderr, "fsmc: error: cannot write `<stdout>`: %s\n", strerror(errno));
    return EXIT_USER;
}

static int print_help(Command command) {
    Str out = {0};
    options_help(&out, command);
    fputs(str_text(&out), stdout);
    str_free(&out);
    return printed();
}

static int print_version(void) {
    unsigned major, minor, patch;
    LLVMGetVersion(&major, &minor, &patch);
    printf("fsmc %s (LLVM %u.%u.%u)\n", FSMC_VERSION, major, minor, patch);
    return printed();
}

int main(int argc, char **argv) {
    Options opt;
    Str message = {0};
    options_init(&opt);
    int code;
    if (!options_parse(&opt, argc, argv, &message))
        code = usage_error(str_text(&message));
    else if (opt.help)
        code = print_help(opt.command);
    else if (opt.version)
        code = print_version();
    else
        code = driver_run(&opt);
    options_free(&opt);
    str_free(&message);
    return code;
}
