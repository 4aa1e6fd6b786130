// Average precision of every column: PrecisionSums of reference.py.
#pragma once

#include <vector>

#include "lanes.hpp"

namespace heldout {

// The next rows above the threshold, in this order; `threshold`: the precision is evaluated here.
struct PrecisionStep {
    std::uint32_t negative[4];
    std::uint32_t positive[4];
    bool threshold;
};

class PrecisionSums {
   public:
    PrecisionSums(const Matrix& scores, const bool* positive);

    std::size_t rows() const { return n_; }
    std::size_t columns() const { return starts_.size() - 1; }

    template <class T>
    void all(const Weightings<T>& weightings, double* averages) const;
    template <class T>
    void selected(const Weightings<T>& weightings, const std::int64_t* columns, double* averages) const;

   private:
    template <class Lane, class In, class Walk>
    void all_of(const Weightings<In>& weightings, double* averages, Walk walk) const;

    std::size_t n_;
    std::vector<PrecisionStep> steps_;
    std::vector<std::size_t> starts_;
};

}  // namespace heldout
