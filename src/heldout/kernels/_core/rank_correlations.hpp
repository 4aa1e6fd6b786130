// Spearman's correlation of every column with a target: RankCorrelations of reference.py.
#pragma once

#include <vector>

#include "lanes.hpp"

namespace heldout {

// The rows of columns in ascending order, with a mark on those that are followed by an equal value.
class TiedOrder {
   public:
    explicit TiedOrder(const Matrix& values);

    static constexpr std::uint32_t kTied = 1u << 31;
    const std::uint32_t* begin(std::size_t column) const { return order_.data() + column * n_; }
    const std::uint32_t* end(std::size_t column) const { return begin(column) + n_; }

   private:
    std::size_t n_;
    std::vector<std::uint32_t> order_;
};

class RankCorrelations {
   public:
    RankCorrelations(const Matrix& values, const double* target);

    std::size_t rows() const { return n_; }
    std::size_t columns() const { return n_columns_; }

    template <class T>
    void all(const Weightings<T>& weightings, double* correlations) const;
    template <class T>
    void selected(const Weightings<T>& weightings, const std::int64_t* columns, double* correlations) const;

   private:
    std::size_t n_, n_columns_;
    TiedOrder order_, target_;
};

}  // namespace heldout
