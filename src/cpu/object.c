// One relocatable object of several: their sections side by side, with one table of symbols. Nothing of what sections
// hold moves, but for numbers of symbols: an object may have several sections of one name.
//
//     .text: f, calls g    beside    .text: g, hidden    becomes    .text: f, calls g    .text: g, local
//
// A hidden symbol is there for the parts alone, so that it is local in the whole. LLVM's C interface has nothing that
// joins objects, and a linker is another program, which need not be there.
#include "cpu/emit.h"

#include "support/vec.h"

#if defined(__ELF__) && defined(__LP64__)
#include <elf.h>
#include <search.h>

enum { ADDRESSES = 0x6fff4c03 }; // LLVM's SHT_LLVM_ADDRSIG, for linkers that fold functions: it may be left out

typedef struct ObjectPart {
    const char *data, *names; // names: of symbols
    const Elf64_Ehdr *head;
    const Elf64_Shdr *section;
    const Elf64_Sym *symbol;
    int nsymbols;
    uint32_t *new_section, *new_symbol; // by number in the part; 0: left out
} ObjectPart;

// A symbol that other parts may name.
typedef struct Global {
    const char *name;
    uint32_t symbol; // in the whole
} Global;

typedef struct Whole {
    int n;
    ObjectPart *part;
    VEC(Elf64_Shdr) sections;
    VEC(Elf64_Sym) symbols;
    Str out, names; // out: of the file, what is before the table of sections
    void *globals;  // tsearch's tree
} Whole;

static void *array_of(size_t n, size_t size) {
    void *a = calloc(n + 1, size);
    if (!a) diag_out_of_memory();
    return a;
}

// ---- reading

static void read_part(ObjectPart *p, const char *data) {
    *p = (ObjectPart){.data = data, .head = (const Elf64_Ehdr *)data};
    if (memcmp(p->head->e_ident, ELFMAG, SELFMAG) || !p->head->e_shnum)
        fatal_bug("an object that is no ELF file, or a huge one");
    p->section = (const Elf64_Shdr *)(data + p->head->e_shoff);
    p->new_section = array_of(p->head->e_shnum, sizeof *p->new_section);
    for (int i = 1; i < p->head->e_shnum; i++) {
        const Elf64_Shdr *s = &p->section[i];
        if (s->sh_type == SHT_GROUP || s->sh_type == SHT_SYMTAB_SHNDX)
            fatal_bug("an object with sections of type %d", (int)s->sh_type);
        if (s->sh_type != SHT_SYMTAB) continue;
        p->symbol = (const Elf64_Sym *)(data + s->sh_offset);
        p->nsymbols = (int)(s->sh_size / sizeof(Elf64_Sym));
        p->names = data + p->section[s->sh_link].sh_offset;
        p->new_symbol = array_of((size_t)p->nsymbols, sizeof *p->new_symbol);
    }
}

static const char *section_name(const ObjectPart *p, const Elf64_Shdr *s) {
    return p->data + p->section[p->head->e_shstrndx].sh_offset + s->sh_name;
}

// ---- sections

static uint32_t add_name(Whole *w, const char *name) {
    if (!*name) return 0;
    uint32_t at = (uint32_t)w->names.len;
    str_write(&w->names, name, strlen(name) + 1);
    return at;
}

static void align(Str *out, uint64_t to) {
    while (to > 1 && out->len % to) str_putc(out, 0);
}

static uint32_t add_section(Whole *w, Elf64_Shdr s, const char *name, const void *content) {
    align(&w->out, s.sh_addralign);
    s.sh_name = add_name(w, name), s.sh_offset = w->out.len;
    if (s.sh_type != SHT_NOBITS) str_write(&w->out, content, s.sh_size);
    vec_push(&w->sections, s);
    return (uint32_t)w->sections.len - 1;
}

// Tables of symbols and names are made anew, and that the stack is not executed is said once.
static bool is_kept(const Whole *w, const ObjectPart *p, const Elf64_Shdr *s) {
    if (s->sh_type == SHT_NULL || s->sh_type == SHT_SYMTAB || s->sh_type == SHT_STRTAB || s->sh_type == ADDRESSES)
        return false;
    return p == w->part || strcmp(section_name(p, s), ".note.GNU-stack") != 0;
}

static bool relocates(const Elf64_Shdr *s) { return s->sh_type == SHT_RELA || s->sh_type == SHT_REL; }

static void add_sections(Whole *w, ObjectPart *p) {
    for (int i = 1; i < p->head->e_shnum; i++) {
        const Elf64_Shdr *s = &p->section[i];
        if (is_kept(w, p, s)) p->new_section[i] = add_section(w, *s, section_name(p, s), p->data + s->sh_offset);
    }
}

// ---- symbols

static int by_name(const void *a, const void *b) {
    return strcmp(((const Global *)a)->name, ((const Global *)b)->name);
}

static uint32_t find_global(const Whole *w, const char *name) {
    const Global key = {name, 0};
    void *found = tfind(&key, &w->globals, by_name);
    return found ? (*(Global *const *)found)->symbol : 0;
}

static void add_symbol(Whole *w, ObjectPart *p, int i, Elf64_Sym s) {
    const char *name = p->names + s.st_name;
    if (s.st_shndx && s.st_shndx < SHN_LORESERVE) s.st_shndx = (Elf64_Section)p->new_section[s.st_shndx];
    s.st_name = add_name(w, name);
    p->new_symbol[i] = (uint32_t)w->symbols.len;
    vec_push(&w->symbols, s);
    if (ELF64_ST_BIND(p->symbol[i].st_info) == STB_LOCAL) return;
    Global *g = array_of(1, sizeof *g);
    *g = (Global){name, p->new_symbol[i]};
    if (!tsearch(g, &w->globals, by_name)) diag_out_of_memory();
}

typedef enum Sort { OF_PART, OF_WHOLE, OF_WORLD, SORTS } Sort; // local; defined for others; defined elsewhere

static Sort sort_of(const Elf64_Sym *s) {
    if (ELF64_ST_BIND(s->st_info) == STB_LOCAL) return OF_PART;
    if (!s->st_shndx) return OF_WORLD;
    return ELF64_ST_VISIBILITY(s->st_other) == STV_HIDDEN ? OF_PART : OF_WHOLE;
}

static void add_symbols(Whole *w, ObjectPart *p, Sort sort) {
    for (int i = 1; i < p->nsymbols; i++) {
        Elf64_Sym s = p->symbol[i];
        if (sort_of(&s) != sort) continue;
        const bool of_file = ELF64_ST_TYPE(s.st_info) == STT_FILE;
        const bool left_out = s.st_shndx && s.st_shndx < SHN_LORESERVE && !p->new_section[s.st_shndx];
        if (left_out || (of_file && p != w->part)) continue;
        if (sort == OF_PART) s.st_info = ELF64_ST_INFO(STB_LOCAL, ELF64_ST_TYPE(s.st_info)), s.st_other = STV_DEFAULT;
        if (sort == OF_WORLD) s.st_other = STV_DEFAULT;
        const uint32_t known = sort == OF_WORLD ? find_global(w, p->names + s.st_name) : 0;
        if (known) p->new_symbol[i] = known;
        else add_symbol(w, p, i, s);
    }
}

// ---- what names sections and symbols by numbers

static void renumber(Whole *w, const ObjectPart *p, int i, uint32_t table) {
    Elf64_Shdr *s = &w->sections.data[p->new_section[i]];
    if (!relocates(s)) {
        if (s->sh_link) s->sh_link = p->new_section[s->sh_link];
        return;
    }
    s->sh_link = table, s->sh_info = p->new_section[s->sh_info];
    for (uint64_t at = 0; at < s->sh_size; at += s->sh_entsize) { // an Elf64_Rela begins as an Elf64_Rel
        Elf64_Rel r;
        memcpy(&r, w->out.data + s->sh_offset + at, sizeof r);
        r.r_info = ELF64_R_INFO((uint64_t)p->new_symbol[ELF64_R_SYM(r.r_info)], ELF64_R_TYPE(r.r_info));
        memcpy(w->out.data + s->sh_offset + at, &r, sizeof r);
    }
}

// ---- the whole

static LLVMMemoryBufferRef finish(Whole *w) {
    Elf64_Ehdr head = *w->part[0].head;
    align(&w->out, sizeof(Elf64_Shdr));
    head.e_shoff = w->out.len, head.e_shnum = (Elf64_Half)w->sections.len,
    head.e_shstrndx = (Elf64_Half)(w->sections.len - 1);
    if (w->sections.len >= SHN_LORESERVE) fatal_bug("an object with %d sections", w->sections.len);
    str_write(&w->out, (const char *)w->sections.data, sizeof *w->sections.data * (size_t)w->sections.len);
    memcpy(w->out.data, &head, sizeof head);
    return LLVMCreateMemoryBufferWithMemoryRangeCopy(w->out.data, w->out.len, "object");
}

static void free_whole(Whole *w) {
    for (int i = 0; i < w->n; i++) free(w->part[i].new_section), free(w->part[i].new_symbol);
    while (w->globals) {
        Global *g = *(Global **)w->globals;
        tdelete(g, &w->globals, by_name);
        free(g);
    }
    free(w->part);
    vec_free(&w->sections), vec_free(&w->symbols);
    str_free(&w->out), str_free(&w->names);
}

LLVMMemoryBufferRef object_joined(int n, const LLVMMemoryBufferRef *parts) {
    Whole w = {.n = n, .part = array_of((size_t)n, sizeof(ObjectPart))};
    const Elf64_Ehdr head = {0};
    str_write(&w.out, (const char *)&head, sizeof head); // written when all is known
    str_putc(&w.names, 0);
    vec_push(&w.sections, (Elf64_Shdr){0});
    vec_push(&w.symbols, (Elf64_Sym){0});
    for (int i = 0; i < n; i++) read_part(&w.part[i], LLVMGetBufferStart(parts[i]));
    for (int i = 0; i < n; i++) add_sections(&w, &w.part[i]);
    uint32_t locals = 0;
    for (Sort sort = OF_PART; sort < SORTS; sort++) {
        for (int i = 0; i < n; i++) add_symbols(&w, &w.part[i], sort);
        if (sort == OF_PART) locals = (uint32_t)w.symbols.len;
    }
    Elf64_Shdr table = {.sh_type = SHT_SYMTAB, .sh_info = locals, .sh_addralign = 8, .sh_entsize = sizeof(Elf64_Sym)};
    Elf64_Shdr names = {.sh_type = SHT_STRTAB, .sh_addralign = 1};
    table.sh_size = sizeof(Elf64_Sym) * (size_t)w.symbols.len, table.sh_link = (uint32_t)w.sections.len + 1;
    const uint32_t at = add_section(&w, table, ".symtab", w.symbols.data);
    names.sh_name = add_name(&w, ".strtab"), names.sh_offset = w.out.len, names.sh_size = w.names.len;
    str_write(&w.out, w.names.data, w.names.len);
    vec_push(&w.sections, names);
    for (int i = 0; i < n; i++)
        for (int k = 1; k < w.part[i].head->e_shnum; k++)
            if (w.part[i].new_section[k]) renumber(&w, &w.part[i], k, at);
    LLVMMemoryBufferRef object = finish(&w);
    free_whole(&w);
    return object;
}

bool object_can_join(void) { return true; }

#else

bool object_can_join(void) { return false; }
LLVMMemoryBufferRef object_joined(int n, const LLVMMemoryBufferRef *parts) {
    (void)parts;
    fatal_bug("%d objects cannot be joined", n);
}
#endif
