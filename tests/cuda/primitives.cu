// Reductions, scans, scattered sums, sorting and matrix products against loops of the processor. The numbers printed are the bits
// of results, which must be the same in every order of threads and blocks.
#include "check.h"

#include <cmath>
#include <limits>
#include <vector>

using namespace fsm::cuda;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool QUICK = true; // what takes long is left out
static const int64_t SIZES[] = {0, 1, 31, 33, 1000, 2500};
#else
constexpr bool QUICK = false;
static const int64_t SIZES[] = {0, 1, 31, 32, 33, 1000, 20000};
#endif

static fsm_context *ctx;
static uint64_t bits; // of all results of a test

static void note_bits(const void *p, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) bits = (bits ^ static_cast<const unsigned char *>(p)[i]) * 0x100000001b3;
}
template <class T> static void note_bits(const std::vector<T> &x) { note_bits(x.data(), x.size() * sizeof(T)); }
static void passed(const char *name) {
    std::printf("ok %s %016llx\n", name, (unsigned long long)bits);
    bits = 0xcbf29ce484222325;
}

static double value(int64_t i) { return double((i * 2654435761u) % 10007) / 1000 - 4; }
static bool near(double x, double y, double size) { return std::fabs(x - y) <= 1e-12 * (size + 1); }

template <class T> static std::vector<T> values(int64_t n) {
    std::vector<T> x(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; i++) x[size_t(i)] = T(value(i));
    return x;
}
template <class T> static std::vector<T> fetch(Call &call, const T *p, int64_t n) {
    std::vector<T> x(static_cast<size_t>(n));
    call.download(x.data(), p, n);
    CHECK(call.wait() == FSM_OK);
    return x;
}

// ---- reductions

template <class T> struct AtOf {
    const T *data;
    __device__ At<T> operator()(int64_t i) const { return {data[i], i}; }
};

static void test_reduce() {
    for (int64_t n : SIZES) {
        Call call(ctx, &info, nullptr, nullptr);
        std::vector<double> x = values<double>(n);
        std::vector<long long> whole(x.begin(), x.end());
        const double *d = call.upload(x.data(), n);
        const long long *dw = call.upload(whole.data(), n);
        double *sum = call.alloc<double>(3);
        long long *sums = call.alloc<long long>(2);
        At<double> *at = call.alloc<At<double>>(2);
        reduce(call, n, Elements<double>{d}, Sum(), 0.0, sum);
        reduce(call, n, Elements<double>{d}, Min(), double(INFINITY), sum + 1);
        reduce(call, n, Elements<double>{d}, Max(), double(-INFINITY), sum + 2);
        reduce(call, n, Elements<long long>{dw}, Sum(), 0LL, sums);
        reduce(call, n, Elements<long long>{dw}, Max(), (long long)INT64_MIN, sums + 1);
        reduce(call, n, AtOf<double>{d}, MinAt(), At<double>{INFINITY, 0}, at);
        reduce(call, n, AtOf<double>{d}, MaxAt(), At<double>{-INFINITY, 0}, at + 1);
        double want = 0, size = 0, least = INFINITY, most = -INFINITY;
        long long total = 0, greatest = INT64_MIN, first_least = 0, first_most = 0;
        for (int64_t i = 0; i < n; i++) {
            const double v = x[size_t(i)];
            want += v, size += std::fabs(v), total += whole[size_t(i)];
            if (v < least) least = v, first_least = i;
            if (v > most) most = v, first_most = i;
            if (whole[size_t(i)] > greatest) greatest = whole[size_t(i)];
        }
        std::vector<double> got = fetch(call, sum, 3);
        std::vector<long long> gots = fetch(call, sums, 2);
        std::vector<At<double>> gotat = fetch(call, at, 2);
        CHECK(near(got[0], want, size) && got[1] == least && got[2] == most);
        CHECK(gots[0] == total && gots[1] == greatest);
        CHECK(gotat[0].value == least && gotat[1].value == most && gotat[0].index == first_least && gotat[1].index == first_most);
        note_bits(got);
        CHECK(call.finish() == FSM_OK);
    }
    passed("reduce");
}

// Each row by a group of lanes, and each by a block.
template <int WIDTH> __global__ void sum_rows(int64_t n, int64_t m, const double *x, double *out) {
    const int lane = thread_number() % WIDTH;
    const int64_t row = grid_thread() / WIDTH;
    double sum = 0;
    for (int64_t j = lane; row < n && j < m; j += WIDTH) sum += x[row * m + j];
    sum = warp_reduce<WIDTH>(sum, Sum());
    if (lane == 0 && row < n) out[row] = sum;
}
__global__ void sum_rows_block(int64_t m, const double *x, double *out, int *facts) {
    double sum = 0, least = 1e9, most = -1e9;
    for (int64_t j = thread_number(); j < m; j += thread_count()) {
        const double v = x[blockIdx.x * m + j];
        sum += v, least = Min()(least, v), most = Max()(most, v);
    }
    sum = block_sum(sum), least = block_min(least), most = block_max(most);
    const bool any = block_any(thread_number() == 77 % thread_count()), all = block_all(thread_number() < 1000000);
    if (thread_number() == 0) out[blockIdx.x] = sum;
    if (thread_number() == thread_count() - 1) facts[blockIdx.x] = any && all && least <= most;
}

static void test_rows() {
    for (int64_t m : {1, 5, 32, 100}) {
        Call call(ctx, &info, nullptr, nullptr);
        const int64_t n = 37;
        std::vector<double> x = values<double>(n * m);
        const double *d = call.upload(x.data(), n * m);
        double *out[] = {call.alloc<double>(n), call.alloc<double>(n), call.alloc<double>(n), call.alloc<double>(n)};
        int *facts = call.alloc<int>(n);
        FSM_LAUNCH(sum_rows<1>, blocks_for(n), BLOCK, 0, call.stream(), n, m, d, out[0]);
        FSM_LAUNCH(sum_rows<8>, blocks_for(n * 8), BLOCK, 0, call.stream(), n, m, d, out[1]);
        FSM_LAUNCH(sum_rows<32>, blocks_for(n * 32), BLOCK, 0, call.stream(), n, m, d, out[2]);
        FSM_LAUNCH(sum_rows_block, unsigned(n), unsigned(m > 32 ? 96 : 32), 0, call.stream(), m, d, out[3], facts);
        for (double *o : out) {
            std::vector<double> got = fetch(call, o, n);
            for (int64_t i = 0; i < n; i++) {
                double want = 0;
                for (int64_t j = 0; j < m; j++) want += x[size_t(i * m + j)];
                CHECK(near(got[size_t(i)], want, double(m) * 6));
            }
            note_bits(got);
        }
        for (int f : fetch(call, facts, n)) CHECK(f);
        CHECK(call.finish() == FSM_OK);
    }
    passed("rows");
}

// ---- scans

struct Map { // x -> a x + b, modulo 2^64: composition is associative and not commutative
    unsigned long long a, b;
};
struct ThenMap {
    __host__ __device__ Map operator()(Map f, Map g) const { return {g.a * f.a, g.a * f.b + g.b}; }
};
struct MapAt {
    __host__ __device__ Map operator()(int64_t i) const { return {(unsigned long long)(2 * i + 1), (unsigned long long)(i * i + 3)}; }
};

static void test_scan() {
    for (int64_t n : SIZES) {
        Call call(ctx, &info, nullptr, nullptr);
        std::vector<double> x = values<double>(n);
        double *d = call.upload(x.data(), n), *out = call.alloc<double>(n);
        Map *maps = call.alloc<Map>(n), *before = call.alloc<Map>(n);
        scan<true>(call, n, Elements<double>{d}, Sum(), 0.0, out);
        scan<false>(call, n, Elements<double>{d}, Sum(), 0.0, d); // in place
        scan<true>(call, n, MapAt(), ThenMap(), Map{1, 0}, maps);
        scan<false>(call, n, MapAt(), ThenMap(), Map{1, 0}, before);
        std::vector<double> got = fetch(call, out, n), shifted = fetch(call, d, n);
        std::vector<Map> got_maps = fetch(call, maps, n), got_before = fetch(call, before, n);
        double sum = 0, size = 0;
        Map f = {1, 0};
        for (int64_t i = 0; i < n; i++) {
            const size_t k = size_t(i);
            CHECK(near(shifted[k], sum, size));
            CHECK(got_before[k].a == f.a && got_before[k].b == f.b);
            sum += x[k], size += std::fabs(x[k]);
            f = ThenMap()(f, MapAt()(i));
            CHECK(near(got[k], sum, size));
            CHECK(got_maps[k].a == f.a && got_maps[k].b == f.b);
        }
        note_bits(got);
        CHECK(call.finish() == FSM_OK);
    }
    passed("scan");
}

// Recurrences in rows, with steps of each row or the same for all, some of which forget what was.
template <class T> static void recurrences_once(int64_t rows, int64_t n) {
    Call call(ctx, &info, nullptr, nullptr);
    const T big = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : T(1e12);
    std::vector<T> x(static_cast<size_t>(rows * n)), y(static_cast<size_t>(rows * n)), s = values<T>(rows), t = s;
    for (size_t i = 0; i < x.size(); i++)
        x[i] = i % 7 == 3 ? T(0) : T(i % 3 ? 1 : -1), y[i] = i % 7 == 1 && i % 2 ? big : T(value(int64_t(i)) * 4);
    T *before = call.alloc<T>(rows * n), *between = call.alloc<T>(rows * n), *ds = call.upload(s.data(), rows), *dt = call.upload(t.data(), rows);
    const T *dx = call.upload(x.data(), rows * n), *dy = call.upload(y.data(), rows * n);
    recurrence<T>(call, rows, n, {dx, n}, {dy, 0}, ds, before);
    recurrence_between<T>(call, rows, n, {dx, 0}, {dy, n}, dt, between);
    const std::vector<T> got = fetch(call, before, rows * n), gots = fetch(call, ds, rows), gotb = fetch(call, between, rows * n), gott = fetch(call, dt, rows);
    const auto same = [](T p, T q, double by) {
        return p == q || (p != p && q != q) || std::fabs(double(p) - double(q)) <= by * (std::fabs(double(p)) + 1e3);
    };
    for (int64_t r = 0; r < rows; r++) {
        T a = s[size_t(r)], b = t[size_t(r)];
        for (int64_t i = 0; i < n; i++) {
            const size_t k = size_t(r * n + i);
            CHECK(same(got[k], a, 1e-12) && same(gotb[k], b, 0));
            a = x[k] == T(0) ? y[size_t(i)] : T(x[k] * a + y[size_t(i)]);
            b = b >= x[size_t(i)] ? b : x[size_t(i)], b = b <= y[k] ? b : y[k];
        }
        CHECK(same(gots[size_t(r)], a, 1e-12) && same(gott[size_t(r)], b, 0));
    }
    note_bits(gotb);
    CHECK(call.finish() == FSM_OK);
}
static void test_recurrences() {
    for (int64_t n : {0, 1, 31, 256, 257, SCAN_TILE, SCAN_TILE + 1, 5000})
        for (int64_t rows : {0, 1, 3, 40}) {
            if ((n > 3000 && rows > 3) || (QUICK && n * rows > 5000)) continue; // then still several tiles, and several rows of them
            recurrences_once<double>(rows, n), recurrences_once<int64_t>(rows, n);
        }
    passed("recurrences");
}

// A million, in the ordinary order alone: it takes seconds.
static void test_large() {
    const int64_t n = 1000000;
    const char *order = std::getenv("FSM_CUDA_SHIM");
    if (!QUICK && (!order || !*order)) {
        Call call(ctx, &info, nullptr, nullptr);
        std::vector<double> x = values<double>(n);
        double *d = call.upload(x.data(), n), *out = call.alloc<double>(n), *sum = call.alloc<double>(1), whole = 0, size = 0;
        reduce(call, n, Elements<double>{d}, Sum(), 0.0, sum);
        scan<true>(call, n, Elements<double>{d}, Sum(), 0.0, out);
        std::vector<double> got = fetch(call, out, n);
        for (size_t i = 0; i < got.size(); i++) {
            whole += x[i], size += std::fabs(x[i]);
            CHECK(near(got[i], whole, size));
        }
        CHECK(near(call.read(sum), whole, size));
        CHECK(call.finish() == FSM_OK);
    }
    passed("large");
}

// ---- scattered sums

template <class T> struct Scattered {
    int64_t places;
    const T *value;
    __host__ __device__ Share<T> operator()(int64_t i) const {
        const int64_t place = int64_t((unsigned long long)(i * 40503 + i / 7) % (unsigned long long)places);
        return {i % 11 == 5 ? -1 : i % 3 ? place : place / 2, value[i]};
    }
};

template <class T> static void scatter_once(int64_t n, int64_t places, bool atomic) {
    Call call(ctx, &info, nullptr, nullptr);
    std::vector<T> x = values<T>(n), start(size_t(places), T(1)), want = start, size = start;
    const T *d = call.upload(x.data(), n);
    T *out = call.upload(start.data(), places);
    if (atomic) scatter_add_atomic(call, n, Scattered<T>{places, d}, out);
    else scatter_add(call, n, Scattered<T>{places, d}, places, out);
    for (int64_t i = 0; i < n; i++) {
        const Share<T> s = Scattered<T>{places, x.data()}(i);
        if (s.place >= 0) want[size_t(s.place)] += s.value, size[size_t(s.place)] += T(std::fabs(double(s.value)));
    }
    std::vector<T> got = fetch(call, out, places);
    for (size_t k = 0; k < got.size(); k++)
        CHECK(std::fabs(double(got[k]) - double(want[k])) <= (sizeof(T) == 4 ? 1e-4 : 1e-12) * (1 + double(size[k])));
    if (!atomic) note_bits(got);
    CHECK(call.finish() == FSM_OK);
}

static void test_scatter() {
    for (int64_t n : {0, 1, 31, 32, 33, 1000, 20000, 100000})
        for (int64_t places : {1, 5, 700, 3000, 20000}) { // for each of the ways
            if ((n == 100000 && places < 3000) || (QUICK && n > 1000 && places != 3000)) continue;
            scatter_once<double>(n, places, false);
            scatter_once<double>(n, places, true);
            if (n == 1000 || n == 20000) scatter_once<float>(n, places, false), scatter_once<long long>(n, places, false);
            if (n == 1000) scatter_once<float>(n, places, true), scatter_once<long long>(n, places, true);
        }
    if (!QUICK) scatter_once<double>(300000, 7000, false); // a copy for each warp in device memory
    passed("scatter");
}

// All ways on the same shares.
static void test_scatter_ways() {
    const int64_t n = QUICK ? 3000 : 30000, places = 900;
    Call call(ctx, &info, nullptr, nullptr);
    std::vector<double> x = values<double>(n), zero(places, 0.0);
    const double *d = call.upload(x.data(), n);
    const Scattered<double> f{places, d};
    double *a = call.upload(zero.data(), places), *b = call.upload(zero.data(), places), *c = call.upload(zero.data(), places);
    scatter_add(call, n, f, places, a);
    scatter_add_sorted<unsigned>(call, n, f, places, b);
    scatter_add_sorted<unsigned long long>(call, n, f, places, c);
    std::vector<double> ga = fetch(call, a, places), gb = fetch(call, b, places), gc = fetch(call, c, places);
    for (size_t k = 0; k < ga.size(); k++) CHECK(near(ga[k], gb[k], 1000) && gb[k] == gc[k]);
    note_bits(ga), note_bits(gb);
    CHECK(call.finish() == FSM_OK);
    passed("scatter_ways");
}

static void test_sort() {
    for (int64_t n : {0, 1, 31, 33, 1000, 20000})
        for (uint64_t most : {1, 200, 70000}) {
            Call call(ctx, &info, nullptr, nullptr);
            std::vector<unsigned> k(static_cast<size_t>(n)), number(static_cast<size_t>(n));
            for (int64_t i = 0; i < n; i++) k[size_t(i)] = unsigned((uint64_t(i) * 7919 + uint64_t(i / 3)) % most), number[size_t(i)] = unsigned(i);
            unsigned *key[] = {call.upload(k.data(), n), call.alloc<unsigned>(n)};
            unsigned *item[] = {call.upload(number.data(), n), call.alloc<unsigned>(n)};
            const int at = sort_by_key<unsigned>(call, n, most, key, item);
            std::vector<unsigned> keys = fetch(call, key[at], n), items = fetch(call, item[at], n);
            for (size_t i = 0; i < keys.size(); i++) {
                CHECK(keys[i] == k[items[i]]);
                if (i) CHECK(keys[i - 1] < keys[i] || (keys[i - 1] == keys[i] && items[i - 1] < items[i]));
            }
            CHECK(call.finish() == FSM_OK);
        }
    passed("sort");
}

// ---- matrix products

template <class T> static void matmul_once(int64_t m, int64_t n, int64_t k, int64_t batch, bool ta, bool tb, T beta) {
    Call call(ctx, &info, nullptr, nullptr);
    std::vector<T> a = values<T>(batch * m * k), b = values<T>(batch * k * n), c = values<T>(batch * m * n);
    const T *da = call.upload(a.data(), batch * m * k), *db = call.upload(b.data(), batch * k * n);
    T *dc = call.upload(c.data(), batch * m * n);
    matmul<T>(call, m, n, k, batch, T(2), ta ? column_major(da, m, m * k) : row_major(da, k, m * k),
              tb ? column_major(db, k, k * n) : row_major(db, n, k * n), beta, row_major(dc, n, m * n));
    std::vector<T> got = fetch(call, dc, batch * m * n);
    for (int64_t q = 0; q < batch; q++)
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) {
                double sum = 0, size = 0;
                for (int64_t l = 0; l < k; l++) {
                    const double x = double(a[size_t(q * m * k + (ta ? l * m + i : i * k + l))]) * double(b[size_t(q * k * n + (tb ? j * k + l : l * n + j))]);
                    sum += x, size += std::fabs(x);
                }
                const size_t at = size_t(q * m * n + i * n + j);
                CHECK(std::fabs(double(got[at]) - (2 * sum + double(beta) * double(c[at]))) <= (sizeof(T) == 4 ? 1e-5 : 1e-13) * (size + 10));
            }
    note_bits(got);
    CHECK(call.finish() == FSM_OK);
}

static void test_matmul() {
    for (int t = 0; t < 4; t++) {
        matmul_once<double>(1, 1, 1, 1, t & 1, t & 2, 0);
        matmul_once<double>(65, 70, 33, 2, t & 1, t & 2, 0.5);
        matmul_once<float>(64, 3, 100, 3, t & 1, t & 2, 1);
        matmul_once<double>(5, 130, 0, 1, t & 1, t & 2, 1);
        matmul_once<float>(0, 5, 5, 1, t & 1, t & 2, 0);
        matmul_once<double>(35, 3, 2 * FSM_LEAST_PART + 1, 1, t & 1, t & 2, 0); // sums in parts
        matmul_once<float>(2, 67, 7 * FSM_LEAST_PART - 5, 3, t & 1, t & 2, 1);
        if (!QUICK) matmul_once<double>(65, 70, 3000, 2, t & 1, t & 2, 0.5);
    }
    const Cut whole = cut_of(1, 511), two = cut_of(300, 494019), many = cut_of(1, 494019), few = cut_of(1, 513), wide = cut_of(-1, 5000);
    CHECK(whole.parts == 1 && two.parts == 1 && wide.parts == 1 && wide.size == 5000);
    CHECK(few.parts == 2 && few.size == 272 && many.parts <= 512 && many.parts * many.size >= 494019 && many.size % DEPTH == 0);
    CHECK((many.parts - 1) * many.size < 494019 && cut_of(1, 0).parts == 1);
    passed("matmul");
}

int main() {
    bits = 0xcbf29ce484222325;
    ctx = fsm_context_new();
    test_reduce();
    test_rows();
    test_scan();
    test_recurrences();
    test_large();
    test_scatter();
    test_scatter_ways();
    test_sort();
    test_matmul();
    fsm_context_free(ctx);
}
