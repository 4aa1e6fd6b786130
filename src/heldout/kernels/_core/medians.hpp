// Weighted median of every column: Medians of reference.py.
#pragma once

#include <vector>

#include "lanes.hpp"

namespace heldout {

class Medians {
   public:
    explicit Medians(const Matrix& values);

    std::size_t rows() const { return n_; }
    std::size_t columns() const { return n_columns_; }

    template <class T>
    void all(const Weightings<T>& weightings, double* medians) const;
    template <class T>
    void selected(const Weightings<T>& weightings, const std::int64_t* columns, double* medians) const;

   private:
    template <class Lane, class Sum, class Place, class In, class Walk>
    void all_of(const Weightings<In>& weightings, double* medians, Walk walk) const;

    std::size_t n_, n_columns_;
    std::vector<double> ascending_;     // values, column by column
    std::vector<std::uint32_t> order_;  // their rows
};

}  // namespace heldout
