// run EXPECTED [--small] [--once] [--most MS] [--json FILE] [--write FOLDER CASE] [WORD…]: times the cases whose names contain a word, and compares results
// with those of the file that expect.cpp wrote. With the shim, the times say nothing. --once: one call of each, for profilers; --most: so many milliseconds
// of calls for one time at most.
#define BENCH_DEVICE
#include "cases.h"

#include "fsmc/cuda.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <sstream>

using namespace fsm::cuda;

static void require(cudaError_t e, const char *what) {
    if (!e) return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
    exit(1);
}
#define CUDA(call) require(call, #call)

// ---- time

struct Times {
    double median, least, host; // milliseconds; host: until the call comes back
    int calls;
};

static double most_time = 2000; // milliseconds of calls for one time
static bool once = false;

// Calls until there are 30 or that time has passed, after three that do not count.
template <class F> static Times time_calls(cudaStream_t stream, F call) {
    cudaEvent_t before, after;
    CUDA(cudaEventCreate(&before));
    CUDA(cudaEventCreate(&after));
    std::vector<double> device, host;
    double total = 0;
    for (int i = -3; i < 3 || (i < 30 && total < most_time); i++) {
        CUDA(cudaEventRecord(before, stream));
        const auto start = std::chrono::steady_clock::now();
        call();
        const double wall = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
        CUDA(cudaEventRecord(after, stream));
        CUDA(cudaEventSynchronize(after));
        float ms = 0;
        CUDA(cudaEventElapsedTime(&ms, before, after));
        if (i < 0) continue;
        device.push_back(double(ms)), host.push_back(wall);
        total += double(ms);
    }
    CUDA(cudaEventDestroy(before));
    CUDA(cudaEventDestroy(after));
    std::sort(device.begin(), device.end());
    std::sort(host.begin(), host.end());
    return {device[device.size() / 2], device[0], host[host.size() / 2], int(device.size())};
}

// ---- what the machine can do

// Bytes read and written in a second.
static double copy_rate(cudaStream_t stream, bool small) {
    const size_t bytes = small ? 1 << 16 : size_t(1) << 30;
    void *a, *b;
    CUDA(cudaMalloc(&a, bytes));
    CUDA(cudaMalloc(&b, bytes));
    CUDA(cudaMemset(a, 0, bytes));
    const Times t = time_calls(stream, [&] { CUDA(cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice, stream)); });
    CUDA(cudaFree(a));
    CUDA(cudaFree(b));
    return 2 * double(bytes) / (t.median * 1e-3);
}

static const fsm_entry_info info = {FSM_ABI_VERSION, 0, 0, 0, "matmul", nullptr, nullptr};

// Operations in a second of a matrix product: cuBLAS's, where it is linked.
template <class T> static double matmul_rate(fsm_context *ctx, cudaStream_t stream, bool small) {
    const int64_t n = small ? 48 : 8192;
    T *a, *b, *c;
    std::vector<T> numbers(size_t(n * n)); // with zeros, the device would be faster
    Numbers random;
    for (T &x : numbers) x = T(2 * random.next() - 1);
    for (T **p : {&a, &b, &c}) {
        CUDA(cudaMalloc(p, size_t(n * n) * sizeof(T)));
        CUDA(cudaMemcpy(*p, numbers.data(), size_t(n * n) * sizeof(T), cudaMemcpyHostToDevice));
    }
    const Times t = time_calls(stream, [&] {
        Call call(ctx, &info, stream, nullptr);
        fsm::cuda::matmul<T>(call, n, n, n, 1, T(1), row_major<const T>(a, n), row_major<const T>(b, n), T(0), row_major(c, n));
        if (call.finish()) fprintf(stderr, "%s\n", fsm_context_error(ctx));
    });
    for (T *p : {a, b, c}) CUDA(cudaFree(p));
    return 2 * double(n) * double(n) * double(n) / (t.median * 1e-3);
}

// ---- cases

using Expected = std::map<std::string, std::vector<std::vector<double>>>; // by name: for each result the magnitude, then samples

static Expected read_expected(const char *path) {
    Expected all;
    std::ifstream file(path);
    for (std::string line, name, word; std::getline(file, line);) {
        std::istringstream words(line);
        std::getline(words, name, '\t');
        std::getline(words, word, '\t'); // the results are in their order
        std::vector<double> numbers;
        while (std::getline(words, word, '\t')) numbers.push_back(strtod(word.c_str(), nullptr));
        all[name].push_back(numbers);
    }
    return all;
}

struct Report {
    std::string name;
    Times times{};
    double bound = 0;       // milliseconds that its arguments, results and matrix products take at least
    double difference = -1; // relative to the largest magnitude; -1: nothing to compare with
    bool same = true;       // results of the first and the last call, to the bit
    bool right = true;
};

static void compare(Report &r, const Case &c, const std::vector<Array> &out, const Expected &expected) {
    const auto e = expected.find(c.name());
    if (e == expected.end()) return;
    r.difference = 0;
    for (size_t k = 0; k < out.size(); k++) {
        const std::vector<double> &want = e->second[k];
        for (int64_t i = 0, s = 1; i < out[k].count; i += sample_step(out[k].count), s++) {
            const double x = out[k].at(i), y = want[size_t(s)];
            if (std::isnan(x) != std::isnan(y)) r.difference = INFINITY;
            else if (!std::isnan(x)) r.difference = fmax(r.difference, fabs(x - y) / (want[0] > 0 ? want[0] : 1));
        }
        r.right = r.right && r.difference <= (out[k].is_int() ? 0 : out[k].kind == 'd' ? 1e-12 : 1e-5);
    }
}

struct Machine {
    double copy, doubles, floats; // bytes and operations in a second
};

static Report run_case(const Case &c, fsm_context *ctx, cudaStream_t stream, const Expected &expected, const Machine &machine) {
    Problem p = c.problem();
    std::vector<Any> in, out;
    for (const Array &a : p.in) {
        void *device;
        CUDA(cudaMalloc(&device, a.bytes.size()));
        CUDA(cudaMemcpy(device, a.bytes.data(), a.bytes.size(), cudaMemcpyHostToDevice));
        in.push_back({device});
    }
    for (Array &a : p.out) {
        void *device;
        a = Numbers::empty(a.kind, a.count);
        CUDA(cudaMalloc(&device, a.bytes.size()));
        out.push_back({device});
    }
    const auto fetch = [&] {
        for (size_t k = 0; k < out.size(); k++) CUDA(cudaMemcpy(p.out[k].bytes.data(), out[k].address, p.out[k].bytes.size(), cudaMemcpyDeviceToHost));
    };
    const auto call = [&] {
        if (!c.program.call(ctx, stream, c.size, in.data(), out.data())) return;
        fprintf(stderr, "%s: %s\n", c.name().c_str(), fsm_context_error(ctx));
        exit(1);
    };
    Report r;
    r.name = c.name();
    call();
    CUDA(cudaStreamSynchronize(stream));
    fetch();
    const std::vector<Array> first = p.out;
    if (!once) r.times = time_calls(stream, call);
    fetch();
    for (size_t k = 0; k < out.size(); k++) r.same = r.same && first[k].bytes == p.out[k].bytes;
    compare(r, c, p.out, expected);
    const double operations = c.program.operations ? c.program.operations(c.size) : 0;
    r.bound = 1e3 * fmax(double(p.bytes()) / machine.copy, operations / (p.out[0].kind == 'd' ? machine.doubles : machine.floats));
    r.right = r.right && r.same;
    for (const Any &x : in) CUDA(cudaFree(x.address));
    for (const Any &x : out) CUDA(cudaFree(x.address));
    return r;
}

static void write_json(const char *path, const Machine &m, const std::vector<Report> &reports) {
    FILE *f = fopen(path, "w");
    if (!f) return perror(path);
    fprintf(f, "{\"copy_bytes_per_second\": %.4g, \"double_flops\": %.4g, \"float_flops\": %.4g, \"cases\": [", m.copy, m.doubles, m.floats);
    const char *comma = "";
    for (const Report &r : reports) {
        fprintf(f, "%s\n  {\"name\": \"%s\", \"ms\": %.5g, \"least_ms\": %.5g, \"host_ms\": %.5g, \"bound_ms\": %.5g, \"calls\": %d, \"difference\": %.3g, \"same\": %s}", comma,
                r.name.c_str(), r.times.median, r.times.least, r.times.host, r.bound, r.times.calls, r.difference, r.same ? "true" : "false");
        comma = ",";
    }
    fprintf(f, "\n]}\n");
    fclose(f);
}

// Writes the arguments of the case with that name to files NUMBER.KIND, for peers.py.
static int write_arguments(const std::string &folder, const std::string &name) {
    for (const Case &c : cases()) {
        if (c.name() != name) continue;
        const Problem p = c.problem();
        for (size_t i = 0; i < p.in.size(); i++) {
            std::ofstream file(folder + "/" + std::to_string(i) + "." + p.in[i].kind, std::ios::binary);
            file.write(reinterpret_cast<const char *>(p.in[i].bytes.data()), std::streamsize(p.in[i].bytes.size()));
            if (!file) return perror(folder.c_str()), 1;
        }
        return 0;
    }
    return fprintf(stderr, "there is no case `%s`\n", name.c_str()), 2;
}

int main(int argc, char **argv) {
    bool small = false;
    const char *json = nullptr;
    std::vector<std::string> words;
    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "--small")) small = true;
        else if (!strcmp(argv[i], "--once")) once = true;
        else if (!strcmp(argv[i], "--most") && i + 1 < argc) most_time = atof(argv[++i]);
        else if (!strcmp(argv[i], "--json") && i + 1 < argc) json = argv[++i];
        else if (!strcmp(argv[i], "--write") && i + 2 < argc) return write_arguments(argv[i + 1], argv[i + 2]);
        else words.push_back(argv[i]);
    }
    if (small) most_time = 20;
    if (argc < 2) return fprintf(stderr, "usage: run EXPECTED [--small] [--once] [--most MS] [--json FILE] [--write FOLDER CASE] [WORD...]\n"), 2;
    const Expected expected = read_expected(argv[1]);
    int devices = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("skipped: there is no GPU"), 77;
    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));
    fsm_context *ctx = fsm_context_new();
    Machine machine = {};
    if (!once) machine = {copy_rate(stream, small), matmul_rate<double>(ctx, stream, small), matmul_rate<float>(ctx, stream, small)};
    printf("copy %.2f TB/s, matrix product %.1f TFLOP/s double, %.1f single\n", machine.copy * 1e-12, machine.doubles * 1e-12, machine.floats * 1e-12);
    printf("%-28s %10s %10s %10s %10s %12s\n", "case", "ms", "least", "host", "by bound", "difference");
    std::vector<Report> reports;
    bool right = true;
    for (const Case &c : cases()) {
        if (!is_meant(c, words, small)) continue;
        const Report r = run_case(c, ctx, stream, expected, machine);
        printf("%-28s %10.4f %10.4f %10.4f %10.1f ", r.name.c_str(), r.times.median, r.times.least, r.times.host, r.times.median / r.bound);
        if (r.difference < 0) printf("%12s", "-");
        else printf("%12.2g", r.difference);
        printf("%s%s\n", r.same ? "" : "  repeats differ", r.right ? "" : "  WRONG");
        fflush(stdout);
        right = right && r.right;
        reports.push_back(r);
    }
    if (json) write_json(json, machine, reports);
    fsm_context_free(ctx);
    CUDA(cudaStreamDestroy(stream));
    return !right;
}
