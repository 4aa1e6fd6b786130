// What all kernels share: weightings of the rows, laid out so that one row's weights under many bootstraps (its lanes)
// are next to each other. Plain loops over the lanes then vectorise, and every lane is summed in the same fixed order
// on every machine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#if defined(HELDOUT_HAS_TARGET_CLONES)
#define HELDOUT_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define HELDOUT_CLONES
#endif

// A function that is called in a clone uses the clone's instructions only if it is inlined.
#if defined(__GNUC__) || defined(__clang__)
#define HELDOUT_INLINE inline __attribute__((always_inline))
#define HELDOUT_RESTRICT __restrict__
#else
#define HELDOUT_INLINE __forceinline
#define HELDOUT_RESTRICT __restrict
#endif

namespace heldout {

// An uninitialised array on cache-line boundaries: 64-byte loads across two lines cost a tenth more.
template <class T>
class Aligned {
   public:
    explicit Aligned(std::size_t size)
        : data_(static_cast<T*>(::operator new(std::max<std::size_t>(size, 1) * sizeof(T), kLine))) {}
    ~Aligned() { ::operator delete(data_, kLine); }
    Aligned(const Aligned&) = delete;
    Aligned& operator=(const Aligned&) = delete;
    T* get() { return data_; }
    const T* get() const { return data_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }

   private:
    static constexpr std::align_val_t kLine{64};
    T* data_;
};

// A matrix with one column per configuration, in any layout (strides in elements).
struct Matrix {
    const double* data;
    std::size_t rows, columns;
    std::ptrdiff_t row_stride, column_stride;
};

// L weightings of n rows, weighting by weighting.
template <class T>
struct Weightings {
    const T* data;
    std::size_t lanes, rows;
    const T* lane(std::size_t l) const { return data + l * rows; }
};

// Decides which integers are wide enough, which affects the time but never a result.
struct Extent {
    unsigned largest = 0;     // count of one row in one lane
    std::uint64_t total = 0;  // of one lane
};
Extent extent_of(const Weightings<std::uint8_t>& counts);

// The lanes of a block: one cache line of counts, so that the sums of a pass stay in registers and the counts of a few
// hundred rows in the nearest cache. Doubles take more lanes, so that finding a row costs little beside adding it.
template <class T>
constexpr std::size_t kLanes = (sizeof(T) == 8 ? 256 : 64) / sizeof(T);

// Up to kLanes<T> weightings, transposed: row i's lanes at `rows() + i * kLanes<T>`. Row n is zero, for padding. On
// request, rows n + 1 .. 2n are rows 0 .. n - 1 doubled, and rows 2n + 1 .. 3n are rows 0 .. n - 1 times one factor
// each. Lanes beyond the last are zero.
template <class T>
class LaneBlock {
   public:
    LaneBlock(std::size_t n_rows, bool doubled, const double* factors = nullptr)
        : n_(n_rows),
          doubled_(doubled),
          factors_(factors),
          rows_((n_rows * (factors ? 3 : doubled ? 2 : 1) + 1) * kLanes<T>) {}

    template <class In>
    void load(const Weightings<In>& counts, std::size_t first, std::size_t n_lanes);

    const T* rows() const { return rows_.get(); }

   private:
    std::size_t n_;
    bool doubled_;
    const double* factors_;
    Aligned<T> rows_;
};

void transpose_bytes(const std::uint8_t* from, std::size_t n_rows, std::size_t n_lanes, std::uint8_t* to);
void double_lanes(const std::uint8_t* from, std::size_t size, std::uint8_t* to);

template <class T>
template <class In>
void LaneBlock<T>::load(const Weightings<In>& counts, std::size_t first, std::size_t n_lanes) {
    constexpr std::size_t L = kLanes<T>;
    T* rows = rows_.get();
    if constexpr (sizeof(In) == 1 && sizeof(T) == 1) {
        transpose_bytes(counts.lane(first), n_, n_lanes, rows);
    } else {
        for (std::size_t i = 0; i < n_; ++i) {
            for (std::size_t l = 0; l < n_lanes; ++l) rows[i * L + l] = static_cast<T>(counts.lane(first + l)[i]);
            std::fill(rows + i * L + n_lanes, rows + (i + 1) * L, T(0));
        }
    }
    std::fill(rows + n_ * L, rows + (n_ + 1) * L, T(0));
    if (!doubled_) return;
    T* twice = rows + (n_ + 1) * L;
    if constexpr (sizeof(T) == 1) {
        double_lanes(rows, n_ * L, twice);
    } else {
        for (std::size_t k = 0; k < n_ * L; ++k) twice[k] = static_cast<T>(rows[k] + rows[k]);
    }
    if (!factors_) return;
    T* scaled = twice + n_ * L;
    for (std::size_t i = 0; i < n_; ++i) {
        for (std::size_t l = 0; l < L; ++l) scaled[i * L + l] = static_cast<T>(rows[i * L + l] * factors_[i]);
    }
}

// Calls `visit(first, n_lanes)` for each block of lanes.
template <class T, class Visit>
void each_block(std::size_t lanes, Visit visit) {
    for (std::size_t first = 0; first < lanes; first += kLanes<T>) {
        visit(first, std::min(kLanes<T>, lanes - first));
    }
}

}  // namespace heldout
