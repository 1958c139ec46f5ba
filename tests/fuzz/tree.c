// The reader of loop trees: what it accepts passes the verifier, and is printed as a text that reads back as the same tree.
#include "fuzz/fuzz.h"
#include "lower/tree.h"

static void check_tree(FuzzInput *in, Tree *t) {
    Str why = {0}, text = {0};
    Tree *back = tree_reread(in->arena, t, &why);
    if (!back) {
        tree_write_places(&text, t);
        str_puts(&text, str_text(&why));
        fuzz_show(in->diag, &text);
    }
    FUZZ_CHECK(back);
    tree_verify(back);
    tree_print(&text, back); // the short form, too
    tree_free(back);
    str_free(&why), str_free(&text);
}

void fuzz_tree(const uint8_t *data, size_t size) {
    FuzzInput in = fuzz_open("input.tree", data, size);
    int n = 0;
    Tree **trees = tree_read(in.arena, in.diag, in.src, &n);
    FUZZ_CHECK(!trees == (diag_errors(in.diag) > 0));
    for (int i = 0; i < n; i++) check_tree(&in, trees[i]);
    for (int i = 0; i < n; i++) tree_free(trees[i]);
    fuzz_close(&in);
}
