// C++ (17 or later) views of arrays, contexts and errors, for the wrappers that fsmc writes with --emit=cpp.
#ifndef FSMC_FSMC_HPP
#define FSMC_FSMC_HPP

#include "fsmc/runtime.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace fsmc {

// What an entry reports: `code` is one of FSM_ERROR_…, what() its text.
class error : public std::runtime_error {
  public:
    error(int code, const std::string &text) : std::runtime_error(text), code_(code) {}
    int code() const noexcept { return code_; }

  private:
    int code_;
};

// Extents that do not fit.
class size_error : public error {
  public:
    explicit size_error(const std::string &text) : error(FSM_ERROR_SIZE, text) {}
};

// Owns a context: scratch memory that calls reuse. For one thread at a time.
class context {
  public:
    context() : ctx_(fsm_context_new()) {
        if (!ctx_) throw std::bad_alloc();
    }
    explicit context(const fsm_allocator &allocator) : ctx_(fsm_context_new_with(allocator)) {
        if (!ctx_) throw std::bad_alloc();
    }
    fsm_context *get() const noexcept { return ctx_.get(); }
    // May be called from any thread.
    void cancel() noexcept { fsm_context_cancel(ctx_.get()); }
    std::int64_t peak_bytes() const noexcept { return fsm_context_peak_bytes(ctx_.get()); }
    // Throws what a call returned.
    void check(int code) const {
        if (code != FSM_OK) throw error(code, fsm_context_error(ctx_.get()));
    }

  private:
    struct release {
        void operator()(fsm_context *ctx) const noexcept { fsm_context_free(ctx); }
    };
    std::unique_ptr<fsm_context, release> ctx_;
};

// A view of a contiguous row-major array of R dimensions; it owns nothing. A view of one dimension is made from
// anything with std::data and std::size (vectors, arrays, spans); others from a pointer, or such a container, and the
// extents.
template <class T, std::size_t R> class view {
  public:
    using extents_type = std::array<std::int64_t, R>;

    view(T *data, const extents_type &extents) noexcept : data_(data), extents_(extents) {}
    template <class C, std::size_t Q = R,
              class = std::enable_if_t<Q == 1 && std::is_convertible_v<decltype(std::data(std::declval<C &>())), T *>>>
    view(C &&container) noexcept
        : data_(std::data(container)), extents_{static_cast<std::int64_t>(std::size(container))} {}
    template <class C, class = std::enable_if_t<std::is_convertible_v<decltype(std::data(std::declval<C &>())), T *>>>
    view(C &&container, const extents_type &extents) : data_(std::data(container)), extents_(extents) {
        if (static_cast<std::int64_t>(std::size(container)) != size())
            throw size_error("a view of " + std::to_string(size()) + " elements is made of a container of " +
                             std::to_string(std::size(container)));
    }
    // A view that writes is one that reads.
    template <class U, class = std::enable_if_t<std::is_same_v<const U, T>>>
    view(const view<U, R> &other) noexcept : data_(other.data()), extents_(other.extents()) {}

    T *data() const noexcept { return data_; }
    const extents_type &extents() const noexcept { return extents_; }
    std::int64_t extent(std::size_t k) const noexcept { return extents_[k]; }
    std::int64_t size() const noexcept {
        std::int64_t n = 1;
        for (std::int64_t e : extents_) n *= e;
        return n;
    }

  private:
    T *data_;
    extents_type extents_;
};

// An array that owns its elements, row-major: the result of a wrapper.
template <class T, std::size_t R> class array {
  public:
    using extents_type = std::array<std::int64_t, R>;

    array() : extents_{} {}
    explicit array(const extents_type &extents) : extents_(extents) {
        std::int64_t n = 1;
        for (std::int64_t e : extents_) n *= std::max<std::int64_t>(e, 0);
        elements_.resize(static_cast<std::size_t>(n));
    }
    T *data() noexcept { return elements_.data(); }
    const T *data() const noexcept { return elements_.data(); }
    std::size_t size() const noexcept { return elements_.size(); }
    std::int64_t extent(std::size_t k) const noexcept { return extents_[k]; }
    const extents_type &extents() const noexcept { return extents_; }
    T &operator[](std::size_t i) noexcept { return elements_[i]; }
    const T &operator[](std::size_t i) const noexcept { return elements_[i]; }
    template <class... I> T &operator()(I... i) noexcept { return elements_[flat({static_cast<std::int64_t>(i)...})]; }
    template <class... I> const T &operator()(I... i) const noexcept {
        return elements_[flat({static_cast<std::int64_t>(i)...})];
    }
    auto begin() noexcept { return elements_.begin(); }
    auto end() noexcept { return elements_.end(); }
    auto begin() const noexcept { return elements_.begin(); }
    auto end() const noexcept { return elements_.end(); }
    operator view<T, R>() noexcept { return {data(), extents_}; }
    operator view<const T, R>() const noexcept { return {data(), extents_}; }

  private:
    std::size_t flat(const extents_type &i) const noexcept {
        std::int64_t k = 0;
        for (std::size_t d = 0; d < R; d++) k = k * extents_[d] + i[d];
        return static_cast<std::size_t>(k);
    }
    std::vector<T> elements_;
    extents_type extents_;
};

namespace detail {

// Arithmetic on sizes that has a value for all operands; what has none in F~ is reported by the entry itself.
inline std::int64_t add(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
inline std::int64_t sub(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
inline std::int64_t mul(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
inline std::int64_t div(std::int64_t a, std::int64_t b) { return b == 0 ? -1 : b == -1 ? sub(0, a) : a / b; }
inline std::int64_t rem(std::int64_t a, std::int64_t b) { return b == 0 ? -1 : b == -1 ? 0 : a % b; }

inline void same(const char *name, std::size_t dimension, std::int64_t want, std::int64_t got) {
    if (want == got) return;
    throw size_error(std::string("`") + name + "`: extent " + std::to_string(dimension) + ": expected " +
                     std::to_string(want) + ", got " + std::to_string(got));
}

} // namespace detail
} // namespace fsmc

#endif
