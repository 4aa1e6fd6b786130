// The rows of each column in ascending order of value, with which every rank statistic starts.
#pragma once

#include <vector>

#include "lanes.hpp"

namespace heldout {

struct Ranked {
    std::uint64_t key;  // orders as the value does; equal for equal values (0.0 and -0.0 included)
    std::uint32_t row;
    std::uint32_t bucket;
};

// Sorts one column after another, stably, reusing its memory. Fastest if columns come in order.
class ColumnOrder {
   public:
    // Throws std::invalid_argument on NaN anywhere in `values`. Only the named rows are ordered.
    ColumnOrder(const Matrix& values, std::vector<std::uint32_t> rows);

    const std::vector<Ranked>& ascending(std::size_t column);
    static double value_of(std::uint64_t key);

   private:
    void gather(std::size_t first_column);
    void scatter_by_digit(const std::vector<Ranked>& from, std::vector<Ranked>& to, unsigned shift);
    void settle_within_buckets();

    Matrix values_;
    std::vector<std::uint32_t> rows_;
    unsigned digit_bits_;
    std::size_t gathered_first_, gathered_last_ = 0;
    std::vector<double> gathered_;  // a few columns of the named rows, each contiguous
    std::vector<std::uint64_t> keys_;
    std::vector<std::int32_t> buckets_;
    std::vector<Ranked> ranked_, other_;
    std::vector<std::uint32_t> starts_;
};

}  // namespace heldout
