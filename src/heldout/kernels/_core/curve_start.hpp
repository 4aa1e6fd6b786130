// The beginning of the ROC curve of every column: SensitivityWithin and AreaWithin of reference_curves.py.
#pragma once

#include <vector>

#include "lanes.hpp"

namespace heldout {

enum class CurveEnd : std::uint8_t { none, positives, tied };

// The next rows in descending order of score, negatives before positives. `opens`: these are the first negatives of a
// tie with positives. `closes`: all rows down to a score with positives have been added, and whether negatives are
// tied with them.
struct CurveStep {
    std::uint32_t negative[4];
    std::uint32_t positive[4];
    bool opens;
    CurveEnd closes;
};

class CurveStart {
   public:
    // `share` is the largest false positive rate; with `area` the result is the area up to it, not the height there.
    CurveStart(const Matrix& scores, const bool* positive, double share, bool area);

    std::size_t rows() const { return n_; }
    std::size_t columns() const { return starts_.size() - 1; }

    template <class T>
    void all(const Weightings<T>& weightings, double* values) const;
    template <class T>
    void selected(const Weightings<T>& weightings, const std::int64_t* columns, double* values) const;

   private:
    template <class Lane, class In, class Walk>
    void all_of(const Weightings<In>& weightings, double* values, Walk walk) const;
    template <class Lane>
    void totals(const Lane* rows, std::size_t L, double* positives, double* negatives) const;

    std::size_t n_;
    double share_;
    bool area_;
    std::vector<std::uint32_t> positives_, negatives_;
    std::vector<CurveStep> steps_;
    std::vector<std::size_t> starts_;
};

}  // namespace heldout
