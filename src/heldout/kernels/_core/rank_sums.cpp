#include "rank_sums.hpp"

namespace heldout {

RankSums::RankSums(const Matrix& scores, const bool* positive, const bool* negative, const std::uint32_t* folds,
                   std::size_t most_steps)
    : RankPrograms(scores.rows, folds != nullptr, nullptr),
      positive_(positive, positive + scores.rows),
      folds_(folds, scores.rows) {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t i = 0; i < scores.rows; ++i) {
        if (positive[i] != negative[i]) rows.push_back(i);
    }
    prepare(scores, std::move(rows), most_steps);
}

void RankSums::compile(const std::uint32_t* ranked, std::size_t n_ranked, StepWriter& write) const {
    if (!folds_.several()) return walk_up(ranked, n_ranked, write);
    struct Entry {
        std::uint32_t row, rank;  // rank: equal for equal scores
    };
    std::vector<Entry> entries(n_ranked);
    std::uint32_t rank = 0;
    for (std::size_t k = 0; k < n_ranked; ++k) {
        rank += ranked[k] & kTied ? 0 : 1;
        entries[k] = {ranked[k] & ~kTied, rank};
    }
    std::vector<std::uint32_t> own;
    folds_.each_fold(
        entries, [](const Entry& entry) { return entry.row; },
        [&](std::size_t, const Entry* of_fold, std::size_t n) {
            own.resize(n);
            for (std::size_t k = 0; k < n; ++k) {
                const bool tied = k > 0 && of_fold[k].rank == of_fold[k - 1].rank;
                own[k] = of_fold[k].row | (tied ? kTied : 0);
            }
            write.reset();
            walk_up(own.data(), n, write);
        });
}

void RankSums::walk_up(const std::uint32_t* ranked, std::size_t n_ranked, StepWriter& write) const {
    for (std::size_t first = 0, last; first < n_ranked; first = last) {
        std::size_t n_positive = 0;
        for (last = first; last < n_ranked && (last == first || ranked[last] & kTied); ++last) {
            n_positive += positive_[ranked[last] & ~kTied];
        }
        const bool any_positive = n_positive > 0, any_negative = n_positive < last - first;
        const bool mixed = any_positive && any_negative;
        for (std::size_t k = first; k < last && any_negative; ++k) {
            const std::uint32_t row = ranked[k] & ~kTied;
            if (!positive_[row]) write.below(mixed ? row : doubled_slot(row));
        }
        for (std::size_t k = first; k < last && any_positive; ++k) {
            const std::uint32_t row = ranked[k] & ~kTied;
            if (positive_[row]) write.above(row);
        }
        for (std::size_t k = first; k < last && mixed; ++k) {
            const std::uint32_t row = ranked[k] & ~kTied;
            if (!positive_[row]) write.below(row);
        }
    }
}

}  // namespace heldout
