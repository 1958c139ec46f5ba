// What the compiler decided, and why (--explain): notes with a place, by topic.
#ifndef SUPPORT_EXPLAIN_H
#define SUPPORT_EXPLAIN_H

#include "support/diag.h"

typedef enum ExplainTopic {
#define TOPIC(id, ...) EXPLAIN_##id,
#include "support/explain.def"
    EXPLAIN_TOPICS
} ExplainTopic;

typedef struct Explain Explain;

// Collects notes of the topics whose bits are set; lives in the arena, until explain_delete.
Explain *explain_new(Arena *arena, unsigned topics);
void explain_delete(Explain *x); // NULL is allowed
// Whose decisions are to be explained next: the name of an entry; must outlive x.
void explain_entry(Explain *x, const char *name);
// Does anybody want to know? x may be NULL; then nobody does.
bool explain_wants(const Explain *x, ExplainTopic topic);
// Notes a decision, once; nothing if it is not wanted.
void explain(Explain *x, ExplainTopic topic, Span at, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
// The notes in the order of the source: `file:line:col: topic: text (entry)`.
void explain_print(const Explain *x, Str *out);

const char *explain_topic_name(ExplainTopic topic);
const char *explain_topic_help(ExplainTopic topic);

#endif
