// What is checked of the arrays of a call before it runs.
#include "fsmc/runtime_internal.h"

#include <inttypes.h>
#include <stdbool.h>

static const struct {
    const char *name;
    size_t size;
} types[] = {
#define KIND(name, type, fsm, ir, c, ...) [type] = {fsm, sizeof(c)},
#include "elements.def"
};

size_t fsm_type_size(int32_t type) { return types[type].size; }

int64_t fsm_array_bytes(const fsm_array_info *array, const int64_t *extents) {
    int64_t bytes = (int64_t)types[array->type].size;
    bool over = false;
    for (int k = 0; k < array->rank; k++) {
        if (extents[k] == INT64_MIN)
            over = true;
        else if (extents[k] <= 0)
            return 0;
        over |= __builtin_mul_overflow(bytes, extents[k], &bytes);
    }
    return over ? -1 : bytes;
}

// ---- texts

void fsm_text_name(fsm_text *t, const fsm_entry_info *info, int k) {
    fsm_text_add(t, "%s '%s'", k < info->ninputs ? "argument" : "output", info->arrays[k].name);
}

void fsm_text_shape(fsm_text *t, const fsm_array_info *array, const int64_t *extents) {
    fsm_text_add(t, "%s", array->type >= 0 && array->type < (int)(sizeof types / sizeof *types) ? types[array->type].name : "?");
    for (int k = 0; k < array->rank; k++) {
        if (extents[k] == INT64_MIN)
            fsm_text_add(t, "[more than %" PRId64 "]", INT64_MAX);
        else
            fsm_text_add(t, "[%" PRId64 "]", extents[k]);
    }
}

int fsm_fail_null(fsm_context *ctx, const fsm_entry_info *info, int k, const int64_t *extents) {
    fsm_text t = fsm_text_begin(ctx);
    fsm_text_name(&t, info, k);
    fsm_text_add(&t, " is NULL: the address of ");
    fsm_text_shape(&t, &info->arrays[k], extents);
    fsm_text_add(&t, " is expected");
    return FSM_ERROR_NULL;
}

int fsm_fail_overflow(fsm_context *ctx, const fsm_entry_info *info, int k, const int64_t *extents) {
    fsm_text t = fsm_text_begin(ctx);
    fsm_text_name(&t, info, k);
    fsm_text_add(&t, " is ");
    fsm_text_shape(&t, &info->arrays[k], extents);
    fsm_text_add(&t, ", which is too large to be addressed: at most %" PRId64 " bytes are expected", INT64_MAX);
    return FSM_ERROR_OVERFLOW;
}

static int fail_align(fsm_context *ctx, const fsm_entry_info *info, int k, uintptr_t off) {
    fsm_text t = fsm_text_begin(ctx);
    const int size = (int)types[info->arrays[k].type].size;
    fsm_text_name(&t, info, k);
    fsm_text_add(&t, " is misaligned: its address is %d bytes past a multiple of %d, the size of %s; a multiple is expected",
                 (int)off, size, types[info->arrays[k].type].name);
    return FSM_ERROR_ALIGN;
}

static int fail_overlap(fsm_context *ctx, const fsm_entry_info *info, int k, int j, const int64_t *extents,
                        intptr_t distance) {
    const int64_t *shape[2] = {extents, extents};
    for (int i = 0; i < k; i++) shape[0] += info->arrays[i].rank;
    for (int i = 0; i < j; i++) shape[1] += info->arrays[i].rank;
    fsm_text t = fsm_text_begin(ctx);
    fsm_text_name(&t, info, k);
    fsm_text_add(&t, " overlaps ");
    fsm_text_name(&t, info, j);
    fsm_text_add(&t, ": ");
    fsm_text_shape(&t, &info->arrays[k], shape[0]);
    fsm_text_add(&t, " begins %" PRIdPTR " bytes after ", distance);
    fsm_text_shape(&t, &info->arrays[j], shape[1]);
    fsm_text_add(&t, "; an output is expected to have memory of its own");
    return FSM_ERROR_OVERLAP;
}

// ---- checks

typedef struct Range {
    uintptr_t begin, size;
} Range;

static bool overlap(Range a, Range b) {
    return a.begin <= b.begin ? b.begin - a.begin < a.size && b.size : a.begin - b.begin < b.size && a.size;
}

static int check_array(fsm_context *ctx, const fsm_entry_info *info, int k, const void *data, const int64_t *extents,
                       Range *range) {
    const fsm_array_info *array = &info->arrays[k];
    int64_t bytes = fsm_array_bytes(array, extents);
    *range = (Range){(uintptr_t)data, (uintptr_t)bytes};
    if (bytes == 0) return FSM_OK;
    if (bytes < 0 || (uint64_t)bytes > UINTPTR_MAX - (uintptr_t)data) return fsm_fail_overflow(ctx, info, k, extents);
    if (!data) return fsm_fail_null(ctx, info, k, extents);
    uintptr_t off = (uintptr_t)data & (types[array->type].size - 1);
    return off ? fail_align(ctx, info, k, off) : FSM_OK;
}

enum { RANGES = 64 }; // are kept; those of more arrays are found again

static Range range_of(const fsm_entry_info *info, void *const *data, const int64_t *extents, int k) {
    for (int i = 0; i < k; i++) extents += info->arrays[i].rank;
    return (Range){(uintptr_t)data[k], (uintptr_t)fsm_array_bytes(&info->arrays[k], extents)};
}

int fsm_check_arrays(fsm_context *ctx, const fsm_entry_info *info, void *const *data, const int64_t *extents, int n) {
    Range known[RANGES], here;
    const int64_t *shape = extents;
    for (int k = 0; k < n; k++) {
        int code = check_array(ctx, info, k, data[k], shape, &here);
        if (code) return code;
        if (k < RANGES) known[k] = here;
        shape += info->arrays[k].rank;
        for (int j = 0; k >= info->ninputs && j < k; j++) {
            Range other = j < RANGES ? known[j] : range_of(info, data, extents, j);
            if (overlap(here, other))
                return fail_overlap(ctx, info, k, j, extents, (intptr_t)(here.begin - other.begin));
        }
    }
    return FSM_OK;
}
