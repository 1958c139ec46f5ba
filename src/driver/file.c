#define _GNU_SOURCE // mkstemps
#include "driver/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 1 << 16 };
static const size_t MAX_SIZE = (size_t)1 << 31; // spans count bytes in 32 bits

static Source *read_stream(Arena *a, Diag *diag, FILE *f, const char *name) {
    Str text = {0};
    char block[BLOCK];
    size_t n;
    while (text.len < MAX_SIZE && (n = fread(block, 1, sizeof block, f)) > 0) str_write(&text, block, n);
    Source *s = NULL;
    if (ferror(f)) {
        diag_error(diag, nowhere, "cannot read `%s`: %s", name, strerror(errno));
    } else if (text.len >= MAX_SIZE) {
        diag_error(diag, nowhere, "`%s` has more than 2 GiB", name);
    } else {
        s = ARENA_NEW(a, Source);
        *s = (Source){arena_strdup(a, name), arena_strndup(a, str_text(&text), text.len), text.len};
    }
    str_free(&text);
    return s;
}

Source *file_read(Arena *a, Diag *diag, const char *path) {
    if (!strcmp(path, "-")) return read_stream(a, diag, stdin, "<stdin>");
    FILE *f = fopen(path, "rb");
    if (!f) {
        diag_error(diag, nowhere, "cannot read `%s`: %s", path, strerror(errno));
        return NULL;
    }
    Source *s = read_stream(a, diag, f, path);
    fclose(f);
    return s;
}

bool file_write(Diag *diag, const char *path, const Str *text) {
    bool console = !strcmp(path, "-");
    FILE *f = console ? stdout : fopen(path, "wb");
    bool ok = f && fwrite(str_text(text), 1, text->len, f) == text->len && !fflush(f);
    int cause = errno;
    if (f && !console && fclose(f) && ok) ok = false, cause = errno;
    if (ok) return true;
    diag_error(diag, nowhere, "cannot write `%s`: %s", console ? "<stdout>" : path, strerror(cause));
    struct stat st;
    if (f && !console && !stat(path, &st) && S_ISREG(st.st_mode)) remove(path);
    return false;
}

bool file_temporary(Arena *a, const char *prefix, const char *suffix, char **path) {
    const char *folder = getenv("TMPDIR");
    *path = arena_printf(a, "%s/%sXXXXXX%s", folder && *folder ? folder : "/tmp", prefix, suffix);
    int fd = mkstemps(*path, (int)strlen(suffix));
    return fd >= 0 && !close(fd);
}

bool file_same(const char *a, const char *b) {
    struct stat sa, sb;
    return !stat(a, &sa) && !stat(b, &sb) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

const char *file_base(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *file_with_suffix(Arena *a, const char *path, const char *suffix) {
    const char *base = file_base(path), *dot = strrchr(base, '.');
    size_t n = dot && dot != base ? (size_t)(dot - path) : strlen(path);
    return arena_printf(a, "%.*s%s", (int)n, path, suffix);
}
