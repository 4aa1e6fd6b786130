// Twice the Mann-Whitney U of every column, as reference.py's RankSums.
#pragma once

#include <vector>

#include "lanes.hpp"

namespace heldout {

// Four rows at a time: `below` are added to the negatives passed so far, then `met` are positives that have
// all of those below them. Slots name rows of a doubled LaneBlock: a negative counts twice below a positive
// and once beside it (a tie). Padding names the zero row.
struct RankStep {
    std::uint32_t below[4];
    std::uint32_t met[4];
};

class RankSums {
   public:
    RankSums(const Matrix& scores, const bool* positive, const bool* negative);

    std::size_t rows() const { return n_; }
    std::size_t columns() const { return starts_.size() - 1; }

    void all(const Weightings<std::uint8_t>& counts, std::int64_t* sums) const;
    void all(const Weightings<double>& weights, double* sums) const;

    void selected(const Weightings<std::uint8_t>& counts, const std::int64_t* columns, std::int64_t* sums) const;
    void selected(const Weightings<double>& weights, const std::int64_t* columns, double* sums) const;

    // Calls `visit(first, n_lanes, column, sums)` for each block of lanes and each column, columns ascending.
    template <class Visit>
    void each_column(const Weightings<std::uint8_t>& counts, Visit&& visit) const;

   private:
    struct Steps {
        const RankStep *begin, *end;
    };
    Steps steps(std::size_t column) const {
        return {steps_.data() + starts_[column], steps_.data() + starts_[column + 1]};
    }
    template <class T, class Visit, class Walk>
    void each_column_of(const Weightings<std::uint8_t>& counts, Visit&& visit, Walk walk) const;

    std::size_t n_;
    std::vector<RankStep> steps_;
    std::vector<std::size_t> starts_;
};

// The same walk in ever wider integers, and in doubles in fixed order.
void walk_narrow(const std::uint8_t* rows, const RankStep* begin, const RankStep* end, std::int64_t* sums);
void walk_wide(const std::uint8_t* rows, const RankStep* begin, const RankStep* end, std::int64_t* sums);
void walk_words(const std::uint16_t* rows, const RankStep* begin, const RankStep* end, std::int64_t* sums);
void walk_doubles(const double* rows, const RankStep* begin, const RankStep* end, double* sums);

template <class T, class Visit, class Walk>
void RankSums::each_column_of(const Weightings<std::uint8_t>& counts, Visit&& visit, Walk walk) const {
    LaneBlock<T> block(n_, true);
    Aligned<std::int64_t> sums(kLanes<T>);
    each_block<T>(counts.lanes, [&](std::size_t first, std::size_t n_lanes) {
        block.load(counts, first, n_lanes);
        for (std::size_t j = 0; j < columns(); ++j) {
            walk(block.rows(), steps(j).begin, steps(j).end, sums.get());
            visit(first, n_lanes, j, static_cast<const std::int64_t*>(sums.get()));
        }
    });
}

template <class Visit>
void RankSums::each_column(const Weightings<std::uint8_t>& counts, Visit&& visit) const {
    const Extent extent = extent_of(counts);
    if (extent.largest > 31) {  // four doubled counts would overflow a byte
        each_column_of<std::uint16_t>(counts, visit, walk_words);
    } else if (extent.total > 32767) {  // doubled negatives would overflow 16 bits
        each_column_of<std::uint8_t>(counts, visit, walk_wide);
    } else {
        each_column_of<std::uint8_t>(counts, visit, walk_narrow);
    }
}

}  // namespace heldout
