// Rows in ascending order, divided into folds that keep that order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace heldout {

class Divided {
   public:
    // `folds` has one code per row, or is null, which means that all rows are in one fold.
    Divided(const std::uint32_t* folds, std::size_t n_rows) {
        if (!folds) return;
        folds_.assign(folds, folds + n_rows);
        n_folds_ = n_rows ? std::size_t(*std::max_element(folds_.begin(), folds_.end())) + 1 : 1;
    }

    bool several() const { return n_folds_ > 1; }
    std::size_t size() const { return n_folds_; }
    std::uint32_t of(std::uint32_t row) const { return folds_.empty() ? 0 : folds_[row]; }

    // Calls `visit(fold, entries, n)` for each fold, with its entries in their order.
    template <class Entry, class RowOf, class Visit>
    void each_fold(const std::vector<Entry>& entries, RowOf row_of, Visit visit) const {
        std::vector<std::size_t> starts(n_folds_ + 1, 0);
        for (const Entry& entry : entries) ++starts[of(row_of(entry)) + 1];
        for (std::size_t f = 0; f < n_folds_; ++f) starts[f + 1] += starts[f];
        std::vector<Entry> divided(entries.size());
        std::vector<std::size_t> to(starts.begin(), starts.end() - 1);
        for (const Entry& entry : entries) divided[to[of(row_of(entry))]++] = entry;
        for (std::size_t f = 0; f < n_folds_; ++f) visit(f, divided.data() + starts[f], starts[f + 1] - starts[f]);
    }

   private:
    std::size_t n_folds_ = 1;
    std::vector<std::uint32_t> folds_;
};

}  // namespace heldout
