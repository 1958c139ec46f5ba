// fsmc fmt: files in the one style.
#define _XOPEN_SOURCE 700
#include "driver/driver.h"
#include "driver/file.h"
#include "tools/format.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Writes beside the file and renames, so that the program is never lost.
static bool replace(Compilation *c, const char *path, const Str *text) {
    char *real = realpath(path, NULL);
    if (!real) {
        diag_error(c->diag, nowhere, "cannot write `%s`: %s", path, strerror(errno));
        return false;
    }
    char *name = arena_printf(c->arena, "%s.XXXXXX", real);
    struct stat st;
    bool known = !stat(real, &st);
    int fd = mkstemp(name);
    FILE *f = fd >= 0 ? fdopen(fd, "wb") : NULL;
    bool ok = f && fwrite(str_text(text), 1, text->len, f) == text->len;
    if (ok && known) ok = !fchmod(fd, st.st_mode & 07777);
    int cause = errno;
    if (f && fclose(f) && ok) ok = false, cause = errno;
    if (ok && rename(name, real)) ok = false, cause = errno;
    if (!ok && fd >= 0) remove(name);
    if (!ok) diag_error(c->diag, nowhere, "cannot write `%s`: %s", path, strerror(cause));
    free(real);
    return ok;
}

static void format_file(Compilation *c, const char *path) {
    const Options *o = c->opt;
    bool standard = !strcmp(path, "-");
    if (standard && o->in_place) {
        diag_error(c->diag, nowhere, "standard input cannot be changed in place");
        return;
    }
    const Source *src = file_read(c->arena, c->diag, path);
    if (!src) return;
    c->src = src;
    Str out = {0};
    int kept;
    if (format_program(c->arena, c->diag, src, FORMAT_WIDTH, &out, &kept)) {
        bool same = out.len == src->len && !memcmp(str_text(&out), src->text, out.len);
        if (o->fmt_check && !same) diag_error(c->diag, nowhere, "`%s` is not formatted", src->name);
        else if (o->in_place && !same) replace(c, path, &out);
        else if (!o->in_place && !o->fmt_check) file_write(c->diag, "-", &out);
    }
    str_free(&out);
}

void command_fmt(Compilation *c) {
    const Options *o = c->opt;
    if (o->fmt_check) diag_set_limit(c->diag, 0);
    format_file(c, o->file);
    for (int i = 0; i < o->words.len; i++) format_file(c, o->words.data[i]);
}
