// Streams: what simple loops store of the function's outputs, element after element, if nothing else accesses these arrays. Where
// they are larger than caches, a processor that stores into a cache first loads what was there, for nothing, and drives out what
// others need; so such stores go to memory at once. How many elements there are is asked at run time.
#include "lower/cost.h"
#include "lower/loop_passes.h"

// How often each array is named in the block, by its number.
static void count_names(const Block *block, int *names) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->buf) names[s->buf->id]++;
        if (s->src) names[s->src->id]++;
        for (int k = 0; stmt_calls(s) && k < s->nin; k++)
            if (s->in[k]) names[s->in[k]->id]++;
        count_names(s->body, names);
        count_names(s->other, names);
    }
}

static bool is_stream(const Stmt *loop, const Stmt *s, const int *names) {
    const Buf *b = s->buf;
    return b->where == BUF_OUTPUT && b->kind == KIND_DOUBLE && b->rank == 1 && s->args[1] == loop->dst && names[b->id] == 1;
}

// What an iteration takes of arrays, in bytes; 0 if memory does not limit it, or it is not simple. (A long one may also be divided
// into functions, which vectors are not.)
static int64_t bytes_of(const Stmt *loop, const int *names) {
    enum { LONG = 64 };
    const Block *body = loop->body;
    int64_t sum = 0;
    bool streams = false;
    if (body->stmts.len > LONG) return 0;
    for (int i = 0; i < body->stmts.len; i++) {
        const Stmt *s = body->stmts.data[i];
        bool again = false;
        switch (s->kind) {
        case ST_LIT:
        case ST_SELECT:
        case ST_CONV: break;
        case ST_OP:
            if (op_info[s->op].cost >= op_info[OP_exp].cost) return 0;
            break;
        case ST_STORE:
            if (!is_stream(loop, s, names)) return 0;
            streams = true;
            sum += (int64_t)kind_size(s->buf->kind);
            break;
        case ST_LOAD:
            for (int k = 0; k < i; k++) again |= body->stmts.data[k]->kind == ST_LOAD && body->stmts.data[k]->buf == s->buf;
            if (!again) sum += (int64_t)kind_size(s->buf->kind);
            break;
        default: return 0;
        }
    }
    return streams ? sum : 0;
}

static void find(Model *m, const Block *block, const int *names) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        int64_t bytes = s->kind == ST_FOR ? bytes_of(s, names) : 0,
                least = bytes ? (int64_t)(m->machine->stream / (double)bytes) + 1 : 0, n;
        if (s->kind == ST_IF) find(m, s->body, names), find(m, s->other, names);
        if (!bytes || (iter_literal(&m->it, s->args[0], &n) && n < least)) continue;
        bool marked = s->lanes; // what differs between lanes is known then
        if (!marked && !iter_look(&m->it, s, true)) iter_forget(&m->it);
        else if (tree_step(m->it.tree, s)) s->streams = least;
    }
}

void loops_stream(Arena *arena, Tree *tree, const LoopOptions *opt) {
    Model m;
    if (opt->width < LANES_MASKED) return;
    model_begin(&m, arena, tree, opt);
    int n = 1;
    for (int i = 0; i < tree->bufs.len; i++)
        if (n <= tree->bufs.data[i]->id) n = tree->bufs.data[i]->id + 1;
    int *names = ARENA_ARRAY(arena, int, n);
    count_names(tree->body, names);
    find(&m, tree->body, names);
    model_end(&m);
}
