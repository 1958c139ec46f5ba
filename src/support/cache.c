// A file for each value: a header, the key, the value. Files get their names once they are whole.
#define _POSIX_C_SOURCE 200809L
#include "support/cache.h"

#include "support/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".fsmc"

typedef struct Header {
    char magic[8];
    uint64_t key, value; // bytes
} Header;

static const char magic[8] = "fsmc 1\n";

bool cache_of_environment(Cache *c) {
    const char *folder = getenv("FSMC_CACHE"), *size = getenv("FSMC_CACHE_SIZE");
    static const char units[] = "KMG";
    if (!folder || !*folder) return false;
    *c = (Cache){folder, INT64_C(1) << 30};
    char *end = NULL;
    long long n = size && *size ? strtoll(size, &end, 10) : -1;
    if (n < 0) return true;
    const char *unit = *end ? strchr(units, *end) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    c->most = n > INT64_MAX >> shift ? INT64_MAX : (int64_t)n << shift;
    return true;
}

static bool path_of(const Cache *c, const Str *key, char path[PATH_MAX]) {
    int n = snprintf(path, PATH_MAX, "%s/%016" PRIx64 SUFFIX, c->folder, str_hash(key->data, key->len));
    return n > 0 && n < PATH_MAX;
}

static bool read_value(FILE *f, const Str *key, Str *value) {
    Header h;
    struct stat st;
    if (fread(&h, sizeof h, 1, f) != 1 || memcmp(h.magic, magic, sizeof magic) || h.key != key->len) return false;
    uint64_t before = sizeof h + h.key, all = fstat(fileno(f), &st) ? 0 : (uint64_t)st.st_size;
    if (all < before || h.value != all - before) return false;
    char buffer[1 << 14];
    for (size_t at = 0, n; at < key->len; at += n) {
        n = key->len - at < sizeof buffer ? key->len - at : sizeof buffer;
        if (fread(buffer, 1, n, f) != n || memcmp(buffer, key->data + at, n)) return false;
    }
    for (size_t at = 0, n; at < h.value; at += n) {
        n = h.value - at < sizeof buffer ? h.value - at : sizeof buffer;
        if (fread(buffer, 1, n, f) != n) return false;
        str_write(value, buffer, n);
    }
    return true;
}

bool cache_find(const Cache *c, const Str *key, Str *value) {
    char path[PATH_MAX];
    FILE *f = path_of(c, key, path) ? fopen(path, "rbe") : NULL;
    if (!f) return false;
    bool found = read_value(f, key, value);
    if (found) futimens(fileno(f), NULL); // it is used
    else str_free(value);
    fclose(f);
    return found;
}

// ---- bounds

typedef struct Kept {
    char name[64];
    int64_t size;
    struct timespec used;
} Kept;

static int by_age(const void *a, const void *b) {
    const struct timespec s = ((const Kept *)a)->used, t = ((const Kept *)b)->used;
    if (s.tv_sec != t.tv_sec) return s.tv_sec < t.tv_sec ? -1 : 1;
    return s.tv_nsec < t.tv_nsec ? -1 : s.tv_nsec > t.tv_nsec;
}

// Files of ours, with those that a process which was ended has left: 16 digits, a point, and more.
static bool is_ours(const char *name) {
    bool has_digits = strspn(name, "0123456789abcdef") == 16 && name[16] == '.';
    return has_digits && strlen(name) < sizeof((Kept){.size = 0}).name;
}

static void forget_oldest(const Cache *c) {
    DIR *d = opendir(c->folder);
    VEC(Kept) kept = {0};
    int64_t all = 0;
    struct stat st;
    for (struct dirent *e; d && (e = readdir(d));) {
        Kept k = {.name = ""};
        if (!is_ours(e->d_name) || fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW)) continue;
        if (!S_ISREG(st.st_mode)) continue;
        strcpy(k.name, e->d_name);
        k.size = st.st_size, k.used = st.st_mtim, all += k.size;
        vec_push(&kept, k);
    }
    if (all > c->most && kept.len) qsort(kept.data, (size_t)kept.len, sizeof *kept.data, by_age);
    for (int i = 0; i < kept.len && all > c->most; i++)
        if (!unlinkat(dirfd(d), kept.data[i].name, 0)) all -= kept.data[i].size;
    vec_free(&kept);
    if (d) closedir(d);
}

void cache_keep(const Cache *c, const Str *key, const char *value, size_t size) {
    char path[PATH_MAX], made[PATH_MAX];
    Header h = {.key = key->len, .value = size};
    memcpy(h.magic, magic, sizeof magic);
    if (!path_of(c, key, path) || (int64_t)(sizeof h + key->len + size) > c->most) return;
    int stem = (int)(strlen(path) - (sizeof SUFFIX - 1));
    if (snprintf(made, sizeof made, "%.*s.XXXXXX", stem, path) >= (int)sizeof made) return;
    if (mkdir(c->folder, 0700) && errno != EEXIST) return;
    int fd = mkstemp(made);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!f) {
        if (fd >= 0) close(fd), unlink(made);
        return;
    }
    bool ok = fwrite(&h, sizeof h, 1, f) == 1;
    ok = ok && fwrite(key->data, 1, key->len, f) == key->len && fwrite(value, 1, size, f) == size;
    ok &= !fclose(f);
    if (!ok || rename(made, path)) unlink(made);
    else forget_oldest(c);
}
