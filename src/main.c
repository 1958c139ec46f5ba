// Options and exit codes.
#include "driver/driver.h"

#include <stdio.h>

int main(int argc, char **argv) {
    Options opt;
    Str message = {0};
    options_init(&opt);
    int code = EXIT_USAGE;
    if (options_parse(&opt, argc, argv, &message)) {
        code = driver_run(&opt);
    } else {
        const char *command = options_command(&opt);
        fprintf(stderr, "fsmc: error: %s\nTry `fsmc help%s%s`.\n", str_text(&message), *command ? " " : "", command);
    }
    options_free(&opt);
    str_free(&message);
    return code;
}
