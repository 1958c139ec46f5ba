#include "instances.h"

#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) ((int)(sizeof(array) / sizeof *(array)))

static const int gmm_d[] = {2, 10, 20, 32, 64, 128}, gmm_k[] = {5, 10, 25, 50, 100, 200};
static const char *const gmm_sets[] = {"1k", "10k", "2.5M"};
static const int lstm_l[] = {2, 4}, lstm_c[] = {1024, 4096};
static const char *const hand_sets[] = {"simple_small", "simple_big", "complicated_small", "complicated_big"};
static const int hand_points[] = {100, 192, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 51200, 100000};
static const int32_t ba[][3] = {
    {49, 7776, 31843},       {21, 11315, 36455},      {161, 48126, 182072},    {372, 47423, 204472},     {257, 65132, 225911},
    {539, 65220, 277273},    {93, 61203, 287451},     {88, 64298, 383937},     {810, 88814, 393775},     {1197, 126327, 563734},
    {1723, 156502, 678718},  {253, 163691, 899155},   {245, 198739, 1091386},  {356, 226730, 1255268},   {1102, 780462, 4052340},
    {1544, 942409, 4750193}, {1778, 993923, 5001946}, {1936, 649673, 5213733}, {4585, 1324582, 9125125}, {13682, 4456117, 28987644},
};
enum { USUAL_BA = 5, USUAL_HAND = 5, MISNAMED_BA = 20 };

int64_t ba_observations(int64_t n, int64_t m) {
    for (int i = 0; i < LENGTH(ba); i++)
        if (ba[i][0] == n && ba[i][1] == m) return ba[i][2];
    return 0;
}

typedef struct List {
    Instance *at;
    int64_t length;
} List;

static void add(List *list, Kind kind, bool usual, const char *name) {
    list->at = realloc(list->at, (size_t)(list->length + 1) * sizeof *list->at);
    if (!list->at) fail(STATUS_TOOL, "out of memory");
    Instance *i = &list->at[list->length++];
    *i = (Instance){.kind = kind, .usual = usual, .replicate = replicates(name)};
    snprintf(i->name, sizeof i->name, "%s", name);
}

static void add_gmm(List *list) {
    for (int s = 0; s < LENGTH(gmm_sets); s++)
        for (int d = 0; d < LENGTH(gmm_d); d++)
            for (int k = 0; k < LENGTH(gmm_k); k++)
                add(list, GMM, s < 2, text("gmm/%s/gmm_d%d_K%d", gmm_sets[s], gmm_d[d], gmm_k[k]));
}

int64_t all_instances(Instance **to) {
    List list = {0};
    add_gmm(&list);
    for (int i = 1; i <= LENGTH(ba); i++) {
        // ADBench's name of the last one lacks a digit.
        int p = i == MISNAMED_BA ? 2987644 : ba[i - 1][2];
        add(&list, BA, i <= USUAL_BA, text("ba/ba%d_n%d_m%d_p%d", i, ba[i - 1][0], ba[i - 1][1], p));
    }
    for (int l = 0; l < LENGTH(lstm_l); l++)
        for (int c = 0; c < LENGTH(lstm_c); c++) add(&list, LSTM, true, text("lstm/lstm_l%d_c%d", lstm_l[l], lstm_c[c]));
    for (int s = 0; s < LENGTH(hand_sets); s++)
        for (int i = 0; i < LENGTH(hand_points); i++)
            add(&list, s < 2 ? HAND : HAND_COMPLICATED, i < USUAL_HAND,
                text("hand/%s/hand%d_t26_c%d", hand_sets[s], i + 1, hand_points[i]));
    *to = list.at;
    return list.length;
}

Kind instance_kind(const char *name) {
    if (!strncmp(name, "gmm/", 4)) return GMM;
    if (!strncmp(name, "ba/", 3)) return BA;
    if (!strncmp(name, "lstm/", 5)) return LSTM;
    if (!strncmp(name, "hand/simple", 11)) return HAND;
    return strncmp(name, "hand/complicated", 16) ? KINDS : HAND_COMPLICATED;
}

bool replicates(const char *name) { return !strncmp(name, "gmm/2.5M/", 9); }

int64_t size_in(const char *name, const char *key) {
    const char *at = strrchr(name, '/');
    size_t length = strlen(key);
    for (; (at = strpbrk(at + 1, "_")) != NULL;)
        if (!strncmp(at, key, length) && at[length] >= '1' && at[length] <= '9') return strtoll(at + length, NULL, 10);
    return 0;
}

// 1k, 2.5M, 50: the second part of the name.
int64_t points_of_gmm(const char *name) {
    char *end;
    double n = strtod(name + strlen("gmm/"), &end);
    n *= *end == 'k' ? 1e3 : *end == 'M' ? 1e6 : 1;
    return n >= 1 && n <= 1e9 ? (int64_t)n : 0;
}

double size_of(const char *name) {
    double d = (double)size_in(name, "_d"), k = (double)size_in(name, "_K");
    int64_t n = size_in(name, "_n"), m = size_in(name, "_m"), p = ba_observations(n, m);
    switch (instance_kind(name)) {
    case GMM: return k * (d + 1) * (d + 2) / 2;
    case BA: return 11. * (double)n + 3. * (double)m + 2. * (double)(p ? p : size_in(name, "_p"));
    case LSTM: return (double)(size_in(name, "_l") * size_in(name, "_c"));
    default: return (double)size_in(name, "_c");
    }
}
