#include "front/module.h"

#include "front/parse.h"
#include "support/embedded.h"
#include "support/str.h"
#include "support/vec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// ---- maps from names

typedef struct NameCell {
    const char *name;
    void *value;
    struct NameCell *next;
} NameCell;

static void rehash(NameMap *m) {
    int n = m->nbuckets ? m->nbuckets * 2 : 16;
    NameCell **bucket = ARENA_ARRAY(m->arena, NameCell *, n);
    for (int i = 0; i < m->nbuckets; i++)
        for (NameCell *c = m->bucket[i], *next; c; c = next) {
            next = c->next;
            NameCell **to = &bucket[str_hash(c->name, strlen(c->name)) & (uint64_t)(n - 1)];
            c->next = *to;
            *to = c;
        }
    m->bucket = bucket;
    m->nbuckets = n;
}

static NameCell *find_cell(const NameMap *m, const char *name) {
    if (!m->nbuckets) return NULL;
    for (NameCell *c = m->bucket[str_hash(name, strlen(name)) & (uint64_t)(m->nbuckets - 1)]; c; c = c->next)
        if (!strcmp(c->name, name)) return c;
    return NULL;
}

void *name_map_get(const NameMap *m, const char *name) {
    NameCell *c = find_cell(m, name);
    return c ? c->value : NULL;
}

void **name_map_slot(NameMap *m, const char *name) {
    NameCell *c = find_cell(m, name);
    if (c) return &c->value;
    if (m->len >= m->nbuckets) rehash(m);
    c = ARENA_NEW(m->arena, NameCell);
    c->name = name;
    NameCell **to = &m->bucket[str_hash(name, strlen(name)) & (uint64_t)(m->nbuckets - 1)];
    c->next = *to;
    *to = c;
    m->len++;
    return &c->value;
}

void name_map_each(const NameMap *m, void (*visit)(const char *name, void *value, void *data), void *data) {
    for (int i = 0; i < m->nbuckets; i++)
        for (NameCell *c = m->bucket[i]; c; c = c->next)
            if (c->value) visit(c->name, c->value, data);
}

// ---- definitions

bool def_is_function(const Def *d) {
    if (d->decl->kind == DECL_TUPLE) return false;
    if (d->decl->nparams > 0) return true;
    const Expr *e = d->decl->body;
    while (e && (e->kind == EX_ANNOT || e->kind == EX_ATTR)) e = e->args[0];
    return e && (e->kind == EX_LAMBDA || e->kind == EX_SECTION);
}

bool def_is_size(const Def *d) {
    return !d->module->prelude && d->decl->kind != DECL_ENTRY && d->decl->kind != DECL_EXTERN && !def_is_function(d);
}

Def *module_find(const Unit *u, const Module *m, const char *name) {
    Def *d = m ? name_map_get(&m->defs, name) : NULL;
    for (int i = m ? m->nopened - 1 : -1; !d && i >= 0; i--) d = name_map_get(&m->opened[i]->defs, name);
    return d ? d : name_map_get(&u->prelude, name);
}

Def *module_clash(const Module *m, const char *name) {
    Def *last = NULL;
    for (int i = name_map_get(&m->defs, name) ? -1 : m->nopened - 1; i >= 0; i--) {
        Def *d = name_map_get(&m->opened[i]->defs, name);
        if (d && last && d != last) return d;
        if (d) last = d;
    }
    return NULL;
}

bool module_may_define(const Module *m, const char *name) {
    bool may = m->incomplete || name_map_get(&m->broken, name);
    for (int i = 0; i < m->nopened && !may; i++) may = m->opened[i]->incomplete || name_map_get(&m->opened[i]->broken, name);
    return may;
}

static void define(Unit *u, Module *m, Decl *decl, const char *name, const Pattern *part, Span at) {
    void **slot = name_map_slot(&m->defs, name);
    if (*slot) {
        const Def *old = *slot;
        diag_error(u->diag, at, "`%s` is defined twice in this file", name);
        diag_note(u->diag, old->part ? old->part->span : old->decl->name_span, "first defined here");
        return;
    }
    Def *d = ARENA_NEW(u->arena, Def);
    *d = (Def){.name = name, .decl = decl, .part = part, .module = m};
    *slot = d;
    if (m->prelude) *name_map_slot(&u->prelude, name) = d;
    m->list[m->ndefs++] = d;
}

static int count_names(const Pattern *p) {
    int n = p->kind == PAT_NAME;
    for (int i = 0; i < p->nparts; i++) n += count_names(p->parts[i]);
    return n;
}

static void define_pattern(Unit *u, Module *m, Decl *decl, const Pattern *p) {
    if (p->kind == PAT_NAME) define(u, m, decl, p->name, p, p->span);
    for (int i = 0; i < p->nparts; i++) define_pattern(u, m, decl, p->parts[i]);
}

static void define_all(Unit *u, Module *m) {
    int n = 0;
    for (int i = 0; i < m->program->nbroken; i++) *name_map_slot(&m->broken, m->program->broken[i]) = m;
    for (int i = 0; i < m->program->ndecls; i++) {
        const Decl *d = m->program->decls[i];
        n += d->kind == DECL_TUPLE ? count_names(d->pattern) : 1;
    }
    m->list = ARENA_ARRAY(u->arena, Def *, n + 1);
    for (int i = 0; i < m->program->ndecls; i++) {
        Decl *d = m->program->decls[i];
        if (d->kind == DECL_TUPLE) define_pattern(u, m, d, d->pattern);
        else if (d->kind != DECL_OPEN) define(u, m, d, d->name, NULL, d->name_span);
    }
}

// ---- files

// The folder part of a file's name with its last '/', "" if there is none.
static const char *folder_of(Arena *a, const char *file) {
    const char *slash = strrchr(file, '/');
    return slash ? arena_strndup(a, file, (size_t)(slash - file) + 1) : "";
}

// Reads a file whole (of an endless one, more than the parser accepts); NULL with errno set if it cannot be read.
static Source *read_source(Arena *a, const char *name) {
    FILE *f = fopen(name, "rb");
    if (!f) return NULL;
    Str text = {0};
    char block[1 << 14];
    size_t n;
    while (text.len <= PARSE_MAX_SOURCE && (n = fread(block, 1, sizeof block, f)) > 0) str_write(&text, block, n);
    int error = ferror(f) ? (errno ? errno : EIO) : 0;
    fclose(f);
    Source *s = NULL;
    if (!error) {
        s = ARENA_NEW(a, Source);
        *s = (Source){arena_strdup(a, name), arena_strndup(a, str_text(&text), text.len), text.len};
    }
    str_free(&text);
    errno = error;
    return s;
}

static Module *add_module(Unit *u, const Source *src, bool prelude) {
    Module *m = ARENA_NEW(u->arena, Module);
    *m = (Module){.src = src, .prelude = prelude, .defs = {.arena = u->arena}, .broken = {.arena = u->arena}};
    Module **grown = ARENA_ARRAY(u->arena, Module *, u->nmodules + 1);
    if (u->nmodules) memcpy(grown, u->modules, sizeof *grown * (size_t)u->nmodules);
    grown[u->nmodules++] = m;
    u->modules = grown;
    m->program = parse_program(u->arena, u->diag, src);
    define_all(u, m);
    return m;
}

static Module *loaded(const Unit *u, const char *name) {
    for (int i = 0; i < u->nmodules; i++)
        if (!u->modules[i]->prelude && !strcmp(u->modules[i]->src->name, name)) return u->modules[i];
    return NULL;
}

static Module *open_file(Unit *u, const Module *from, const Decl *open) {
    const char *path = open->name;
    int failure = ENOENT;
    for (int i = -1; i < u->ninclude; i++) {
        const char *name = path;
        if (path[0] != '/') {
            const char *folder = i < 0 ? folder_of(u->arena, from->src->name) : u->include[i];
            size_t n = strlen(folder);
            name = arena_printf(u->arena, "%s%s%s", folder, n && folder[n - 1] != '/' ? "/" : "", path);
        }
        Module *m = loaded(u, name);
        if (m) return m;
        Source *src = read_source(u->arena, name);
        if (src) return add_module(u, src, false);
        if (errno != ENOENT) failure = errno;
    }
    diag_error(u->diag, open->name_span.src ? open->name_span : open->span, "cannot open \"%s\": %s", path, strerror(failure));
    return NULL;
}

// Loads the files that m opens; they are added to the end of the list of modules, whose turn comes later.
static void load_opened(Unit *u, Module *m) {
    m->opened = ARENA_ARRAY(u->arena, Module *, m->program->ndecls + 1);
    for (int i = 0; i < m->program->ndecls; i++) {
        const Decl *d = m->program->decls[i];
        if (d->kind != DECL_OPEN) continue;
        Module *other = open_file(u, m, d);
        m->incomplete |= !other;
        if (other && other != m) m->opened[m->nopened++] = other;
    }
}

Unit *module_load(Arena *arena, Diag *diag, const Source *src, const char *const *include, int ninclude) {
    Unit *u = ARENA_NEW(arena, Unit);
    *u = (Unit){.arena = arena, .diag = diag, .include = include, .ninclude = ninclude, .prelude = {.arena = arena}};
    for (const FsmcEmbedded *f = fsmc_prelude_files; f->name; f++) {
        Source *s = ARENA_NEW(arena, Source);
        *s = (Source){arena_printf(arena, "prelude/%s", f->name), f->text, f->size};
        add_module(u, s, true);
    }
    int first = u->nmodules;
    u->main = add_module(u, src, false);
    for (int i = first; i < u->nmodules; i++) load_opened(u, u->modules[i]);
    names_check(u);
    return u;
}
