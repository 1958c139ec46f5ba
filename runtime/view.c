// The general form of entries: arrays that lie anywhere in memory. What is not contiguous goes through scratch memory.
#include "fsmc/runtime_internal.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

enum { RANK_SHOWN = 16 };

// The bytes between one element and the next along dimension k.
static int64_t stride_of(const fsm_view *v, int k) {
    if (v->strides) return v->strides[k];
    int64_t stride = (int64_t)fsm_type_size(v->type);
    for (int i = k + 1; i < v->rank; i++) stride *= v->shape[i]; // fits: span() has been asked
    return stride;
}

static bool is_empty(const fsm_view *v) {
    for (int k = 0; k < v->rank; k++)
        if (v->shape[k] == 0) return true;
    return false;
}

// Where the bytes of a view lie: first … last, from the address of the array. False if that cannot be.
static bool span(const fsm_view *v, const fsm_array_info *array, int64_t *first, int64_t *last) {
    int64_t size = (int64_t)fsm_type_size(array->type), reach;
    *first = 0, *last = size - 1;
    if (is_empty(v)) return true;
    if (fsm_array_bytes(array, v->shape) < 0) return false; // also what copies need
    for (int k = 0; k < v->rank; k++) {
        if (__builtin_mul_overflow(v->shape[k] - 1, stride_of(v, k), &reach)) return false;
        if (__builtin_add_overflow(reach < 0 ? *first : *last, reach, reach < 0 ? first : last)) return false;
    }
    uintptr_t at = (uintptr_t)v->data;
    if (*last > 0 && (uint64_t)*last > UINTPTR_MAX - at) return false;
    return *first >= 0 || (0 - (uint64_t)*first) <= at;
}

static bool is_contiguous(const fsm_view *v) {
    if (!v->strides || is_empty(v)) return true;
    int64_t size = (int64_t)fsm_type_size(v->type);
    for (int k = v->rank - 1; k >= 0; k--) {
        if (v->shape[k] != 1 && v->strides[k] != size) return false;
        size *= v->shape[k];
    }
    return true;
}

// Whether the entry can work on the view where it lies.
static bool is_usable(const fsm_view *v) {
    return is_contiguous(v) && (is_empty(v) || !((uintptr_t)v->data & (fsm_type_size(v->type) - 1)));
}

// ---- errors

static int fail_type(fsm_context *ctx, const fsm_entry_info *info, int k, const fsm_view *v) {
    fsm_text t = fsm_text_begin(ctx);
    fsm_array_info given = {"", v->type, 0}, wanted = {"", info->arrays[k].type, 0};
    fsm_text_name(&t, info, k);
    fsm_text_add(&t, " has elements of type ");
    fsm_text_shape(&t, &given, NULL);
    fsm_text_add(&t, " (%" PRId32 "): ", v->type);
    fsm_text_shape(&t, &wanted, NULL);
    fsm_text_add(&t, " (%" PRId32 ") is expected", wanted.type);
    return FSM_ERROR_TYPE;
}

static int fail_rank(fsm_context *ctx, const fsm_entry_info *info, int k, const fsm_view *v) {
    fsm_text t = fsm_text_begin(ctx);
    fsm_text_name(&t, info, k);
    fsm_text_add(&t, " has rank %" PRId32 ": rank %" PRId32 " is expected", v->rank, info->arrays[k].rank);
    return FSM_ERROR_RANK;
}

static int fail_pointer(fsm_context *ctx, const fsm_entry_info *info, int k, const char *what) {
    fsm_text t = fsm_text_begin(ctx);
    fsm_text_name(&t, info, k);
    fsm_text_add(&t, ": %s is NULL: an address is expected", what);
    return FSM_ERROR_NULL;
}

static int fail_negative(fsm_context *ctx, const fsm_entry_info *info, int k, const fsm_view *v) {
    fsm_text t = fsm_text_begin(ctx);
    fsm_text_name(&t, info, k);
    fsm_text_add(&t, " has shape ");
    fsm_text_shape(&t, &info->arrays[k], v->shape);
    fsm_text_add(&t, ": extents of at least 0 are expected");
    return FSM_ERROR_NEGATIVE;
}

static int fail_shape(fsm_context *ctx, const fsm_entry_info *info, int k, const fsm_view *v, const int64_t *extents) {
    fsm_text t = fsm_text_begin(ctx);
    fsm_text_name(&t, info, k);
    fsm_text_add(&t, " has shape ");
    fsm_text_shape(&t, &info->arrays[k], v->shape);
    fsm_text_add(&t, ": ");
    fsm_text_shape(&t, &info->arrays[k], extents);
    fsm_text_add(&t, " is expected");
    return FSM_ERROR_SIZE;
}

static int fail_stride(fsm_context *ctx, const fsm_entry_info *info, int k, const fsm_view *v) {
    fsm_text t = fsm_text_begin(ctx);
    fsm_text_name(&t, info, k);
    fsm_text_add(&t, ", ");
    fsm_text_shape(&t, &info->arrays[k], v->shape);
    fsm_text_add(&t, ", has strides of");
    for (int i = 0; i < v->rank && i < RANK_SHOWN; i++)
        fsm_text_add(&t, "%s %" PRId64, i ? "," : "", stride_of(v, i));
    fsm_text_add(&t, " bytes, by which elements share memory: a place for each is expected");
    return FSM_ERROR_STRIDE;
}

static int fail_overlap(fsm_context *ctx, const fsm_entry_info *info, int k, int j) {
    fsm_text t = fsm_text_begin(ctx);
    fsm_text_name(&t, info, k);
    fsm_text_add(&t, " overlaps ");
    fsm_text_name(&t, info, j);
    fsm_text_add(&t, "; an output is expected to have memory of its own");
    return FSM_ERROR_OVERLAP;
}

// ---- sizes and shapes

static int check_view(fsm_context *ctx, const fsm_entry_info *info, int k, const fsm_view *v) {
    const fsm_array_info *array = &info->arrays[k];
    if (!v) return fail_pointer(ctx, info, k, "the view");
    if (!array->rank) return FSM_OK; // a scalar output is no view
    if (v->type != array->type) return fail_type(ctx, info, k, v);
    if (v->rank != array->rank) return fail_rank(ctx, info, k, v);
    if (!v->shape) return fail_pointer(ctx, info, k, "the shape");
    for (int i = 0; i < v->rank; i++)
        if (v->shape[i] < 0) return fail_negative(ctx, info, k, v);
    return FSM_OK;
}

int fsm_view_sizes(fsm_context *ctx, const fsm_entry_info *info, const void *const *views, int64_t *sizes) {
    for (int k = 0; k < info->ninputs + info->noutputs; k++) {
        int code = check_view(ctx, info, k, views[k]);
        if (code) return code;
    }
    for (int i = 0; i < info->nsizes; i++) {
        const fsm_view *v = views[info->sizes[i].array];
        sizes[i] = v->shape[info->sizes[i].dim];
    }
    return FSM_OK;
}

static int check_shape(fsm_context *ctx, const fsm_entry_info *info, int k, const fsm_view *v, const int64_t *extents) {
    int64_t first, last;
    for (int i = 0; i < v->rank; i++)
        if (v->shape[i] != extents[i]) return fail_shape(ctx, info, k, v, extents);
    if (!v->data && !is_empty(v)) return fsm_fail_null(ctx, info, k, extents);
    return span(v, &info->arrays[k], &first, &last) ? FSM_OK : fsm_fail_overflow(ctx, info, k, extents);
}

// ---- sharing of memory

// Whether no two elements of the view can share memory: each dimension steps over all that those of smaller strides
// reach. (There are stranger views of which that is not true; they are refused.)
static bool is_injective(const fsm_view *v) {
    uint64_t reach = fsm_type_size(v->type), done = 0;
    if (is_empty(v)) return true;
    for (;;) {
        uint64_t least = UINT64_MAX;
        for (int k = 0; k < v->rank; k++) {
            int64_t s = stride_of(v, k);
            uint64_t step = s < 0 ? 0 - (uint64_t)s : (uint64_t)s;
            if (v->shape[k] > 1 && step >= done && step < least) least = step;
        }
        if (least == UINT64_MAX) return true;
        int count = 0;
        uint64_t extent = 1;
        for (int k = 0; k < v->rank; k++) {
            int64_t s = stride_of(v, k);
            if (v->shape[k] > 1 && (s < 0 ? 0 - (uint64_t)s : (uint64_t)s) == least)
                count++, extent = (uint64_t)v->shape[k];
        }
        if (least < reach || count > 1) return false;
        reach += (extent - 1) * least; // no more than the span, which fits
        done = least + 1;
    }
}

static uint64_t size_of_step(int64_t stride) { return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride; }

// Modulo step, the view lies in one piece: from *begin, *size bytes. False if that is not known.
static bool residues(const fsm_view *v, size_t element, uint64_t step, uint64_t *begin, uint64_t *size) {
    uint64_t below = 0;
    *size = element;
    for (int k = 0; k < v->rank; k++) {
        int64_t s = stride_of(v, k);
        if (v->shape[k] <= 1 || size_of_step(s) % step == 0) continue;
        uint64_t reach = size_of_step(s) * (uint64_t)(v->shape[k] - 1); // fits: so does the span
        *size += reach;
        if (s < 0) below += reach;
    }
    *begin = ((uint64_t)(uintptr_t)v->data - below) % step;
    return *size <= step;
}

static bool apart_modulo(const fsm_view *a, size_t sa, const fsm_view *b, size_t sb, uint64_t step) {
    uint64_t begin[2], size[2];
    if (!step) return false;
    if (!residues(a, sa, step, &begin[0], &size[0]) || !residues(b, sb, step, &begin[1], &size[1])) return false;
    uint64_t ahead = begin[1] >= begin[0] ? begin[1] - begin[0] : begin[1] + (step - begin[0]);
    uint64_t behind = ahead ? step - ahead : 0;
    return ahead >= size[0] && behind >= size[1];
}

// Whether two views may share memory: their spans meet, and not in different columns of one matrix, so to speak.
static bool may_overlap(const fsm_view *a, const fsm_array_info *ia, const fsm_view *b, const fsm_array_info *ib) {
    int64_t a0, a1, b0, b1;
    size_t sa = fsm_type_size(ia->type), sb = fsm_type_size(ib->type);
    if (is_empty(a) || is_empty(b) || !span(a, ia, &a0, &a1) || !span(b, ib, &b0, &b1)) return false;
    uintptr_t p = (uintptr_t)a->data, q = (uintptr_t)b->data;
    if (p + (uintptr_t)a1 < q + (uintptr_t)b0 || q + (uintptr_t)b1 < p + (uintptr_t)a0) return false;
    for (int k = 0; k < a->rank; k++)
        if (apart_modulo(a, sa, b, sb, size_of_step(stride_of(a, k)))) return false;
    for (int k = 0; k < b->rank; k++)
        if (apart_modulo(a, sa, b, sb, size_of_step(stride_of(b, k)))) return false;
    return true;
}

// The view of array k; a scalar output as one of rank 0 in *scalar.
static const fsm_view *view_of(const fsm_entry_info *info, const void *const *views, int k, fsm_view *scalar) {
    if (info->arrays[k].rank) return views[k];
    *scalar = (fsm_view){(void *)(uintptr_t)views[k], info->arrays[k].type, 0, NULL, NULL};
    return scalar;
}

static int check_overlap(fsm_context *ctx, const fsm_entry_info *info, const void *const *views, int k) {
    fsm_view a, b;
    const fsm_view *v = view_of(info, views, k, &a);
    for (int j = 0; j < k; j++)
        if (may_overlap(v, &info->arrays[k], view_of(info, views, j, &b), &info->arrays[j]))
            return fail_overlap(ctx, info, k, j);
    return FSM_OK;
}

// ---- copies

// Between the view and contiguous memory, from dimension k on; returns where it ended in the latter.
static char *copy(const fsm_view *v, int k, char *at, char *dense, size_t size, bool gather) {
    if (k == v->rank) {
        memcpy(gather ? dense : at, gather ? at : dense, size);
        return dense + size;
    }
    int64_t stride = stride_of(v, k), n = v->shape[k];
    if (k + 1 < v->rank || (size != 8 && size != 4)) {
        for (int64_t i = 0; i < n; i++) dense = copy(v, k + 1, at + i * stride, dense, size, gather);
        return dense;
    }
    for (int64_t i = 0; i < n; i++, dense += size) {
        char *to = gather ? dense : at + i * stride, *from = gather ? at + i * stride : dense;
        if (size == 8)
            memcpy(to, from, 8);
        else
            memcpy(to, from, 4);
    }
    return dense;
}

// The view's address if it can be used as it is, or scratch memory. NULL without memory.
static void *place(fsm_context *ctx, const fsm_view *v, const fsm_array_info *array, bool gather) {
    if (is_usable(v)) return v->data;
    int64_t size = (int64_t)fsm_type_size(v->type);
    void *memory = fsm_alloc(ctx, fsm_array_bytes(array, v->shape) / size, size);
    if (memory && gather) copy(v, 0, v->data, memory, (size_t)size, true);
    return memory;
}

int fsm_view_inputs(fsm_context *ctx, const fsm_entry_info *info, const void *const *views, const int64_t *extents,
                    void **data) {
    for (int k = 0; k < info->ninputs; k++) {
        const fsm_view *v = views[k];
        int code = check_shape(ctx, info, k, v, extents);
        if (code) return code;
        extents += info->arrays[k].rank;
        data[k] = place(ctx, v, &info->arrays[k], true);
        if (!data[k] && !is_empty(v)) return FSM_ERROR_MEMORY;
    }
    return FSM_OK;
}

int fsm_view_outputs(fsm_context *ctx, const fsm_entry_info *info, const void *const *views, const int64_t *extents,
                     void **data) {
    for (int k = 0; k < info->ninputs; k++) extents += info->arrays[k].rank;
    for (int k = info->ninputs; k < info->ninputs + info->noutputs; k++) {
        const fsm_view *v = views[k];
        int code = FSM_OK;
        if (info->arrays[k].rank) {
            code = check_shape(ctx, info, k, v, extents);
            if (!code && !is_injective(v)) code = fail_stride(ctx, info, k, v);
        }
        if (!code) code = check_overlap(ctx, info, views, k);
        if (code) return code;
        extents += info->arrays[k].rank;
        data[k] = info->arrays[k].rank ? place(ctx, v, &info->arrays[k], false) : (void *)(uintptr_t)views[k];
        if (!data[k] && !is_empty(v)) return FSM_ERROR_MEMORY;
    }
    return FSM_OK;
}

void fsm_view_finish(const fsm_entry_info *info, const void *const *views, void *const *data) {
    for (int k = info->ninputs; k < info->ninputs + info->noutputs; k++) {
        const fsm_view *v = views[k];
        if (!info->arrays[k].rank || is_usable(v)) continue;
        copy(v, 0, v->data, data[k], fsm_type_size(v->type), false);
    }
}
