// Sums over pairs of rows, one ranked above the other: each column is sorted once, and its order is compiled into a
// short program of row additions. A bootstrap then takes one pass over that program, without comparing scores and
// without a branch on the data.
#pragma once

#include <memory>
#include <vector>

#include "column_order.hpp"
#include "lanes.hpp"

namespace heldout {

// Four rows at a time: the rows `below` are added to the weight passed so far, then the rows `above` are multiplied by
// that weight. Slots are rows of a doubled LaneBlock: a row counts twice below another row and once in a tie with it.
// Padding is the zero row. kReset in the first of `below` sets the weight passed so far to zero.
struct RankStep {
    std::uint32_t below[4];
    std::uint32_t above[4];
};

constexpr std::uint32_t kReset = std::uint32_t(1) << 31;

// A column's steps, and whether any of them resets.
struct Program {
    const RankStep *begin, *end;
    bool resets;
};

// Appends rows to the last step while it has room for them in the right order.
class StepWriter {
   public:
    StepWriter(std::vector<RankStep>& steps, std::uint32_t zero) : steps_(steps), zero_(zero) {}

    // A program begins: no weight has been passed.
    void begin() {
        nothing_passed_ = true;
        reset_ = 0;
    }
    // The next rows have no weight below them.
    void reset() {
        if (nothing_passed_) return;
        nothing_passed_ = true;
        reset_ = kReset;
    }
    void below(std::uint32_t slot) {
        if (nothing_passed_ || n_above_ > 0 || n_below_ == 4) {
            open();
            if (nothing_passed_) slot |= reset_;
            nothing_passed_ = false;
        }
        steps_.back().below[n_below_++] = slot;
    }
    void above(std::uint32_t slot) {
        if (nothing_passed_) return;
        if (n_above_ == 4) open();
        steps_.back().above[n_above_++] = slot;
    }

   private:
    void open() {
        steps_.push_back({{zero_, zero_, zero_, zero_}, {zero_, zero_, zero_, zero_}});
        n_below_ = n_above_ = 0;
    }

    std::vector<RankStep>& steps_;
    std::uint32_t zero_, reset_ = 0;
    int n_below_ = 0, n_above_ = 0;
    bool nothing_passed_ = true;
};

class RankPrograms {
   public:
    virtual ~RankPrograms() = default;

    std::size_t rows() const { return n_; }
    std::size_t columns() const { return columns_; }

    void all(const Weightings<std::uint8_t>& counts, std::int64_t* sums) const;
    void all(const Weightings<double>& weights, double* sums) const;

    void selected(const Weightings<std::uint8_t>& counts, const std::int64_t* columns, std::int64_t* sums) const;
    void selected(const Weightings<double>& weights, const std::int64_t* columns, double* sums) const;

    // Calls `visit(first, n_lanes, column, sums)` for each block of lanes and each column, the columns of a
    // block ascending.
    template <class Visit>
    void each_column(const Weightings<std::uint8_t>& counts, Visit&& visit) const;

   protected:
    // A row of a column in ascending order, with kTied if its value equals that of the row before.
    static constexpr std::uint32_t kTied = std::uint32_t(1) << 31;

    // `factors` (n, or null) are in slots 2n + 1 .. 3n of double lanes, times the weight of their row.
    RankPrograms(std::size_t n_rows, bool resets, const double* factors) : n_(n_rows), resets_(resets) {
        if (factors) factors_.assign(factors, factors + n_rows);
    }
    // Sorts the named rows of each column and compiles; constructors call it last. Programs beyond `most_steps` in all
    // are compiled again for each use.
    void prepare(const Matrix& scores, std::vector<std::uint32_t> rows, std::size_t most_steps);
    virtual void compile(const std::uint32_t* ranked, std::size_t n_ranked, StepWriter& write) const = 0;

    std::uint32_t zero_slot() const { return static_cast<std::uint32_t>(n_); }
    std::uint32_t doubled_slot(std::uint32_t row) const { return static_cast<std::uint32_t>(n_) + 1 + row; }
    std::uint32_t factored_slot(std::uint32_t row) const { return static_cast<std::uint32_t>(2 * n_) + 1 + row; }
    bool has_factors() const { return !factors_.empty(); }

   private:
    // In `scratch` if it is not kept.
    Program program(std::size_t column, std::vector<RankStep>& scratch) const;
    // For all columns and lanes, in groups of blocks of lanes that share a program that is not kept.
    template <class T, class In, class Sum, class Visit, class Walk>
    void each_column_of(const Weightings<In>& counts, Visit&& visit, Walk walk) const;

    std::size_t n_, columns_ = 0, n_ranked_ = 0;
    bool kept_ = true, resets_;
    std::vector<double> factors_;
    std::vector<std::uint32_t> ranked_;  // (columns, n_ranked), if programs are not kept
    std::vector<RankStep> steps_;
    std::vector<std::size_t> starts_;
};

// The same pass in wider and wider integers, and in doubles in a fixed order.
void walk_narrow(const std::uint8_t* rows, const Program& program, std::int64_t* sums);
void walk_wide(const std::uint8_t* rows, const Program& program, std::int64_t* sums);
void walk_words(const std::uint16_t* rows, const Program& program, std::int64_t* sums);
void walk_doubles(const double* rows, const Program& program, double* sums);

template <class T, class In, class Sum, class Visit, class Walk>
void RankPrograms::each_column_of(const Weightings<In>& counts, Visit&& visit, Walk walk) const {
    Aligned<Sum> sums(kLanes<T>);
    std::vector<RankStep> scratch;
    const double* factors = has_factors() ? factors_.data() : nullptr;
    if (kept_) {
        LaneBlock<T> block(n_, true, factors);
        each_block<T>(counts.lanes, [&](std::size_t first, std::size_t n_lanes) {
            block.load(counts, first, n_lanes);
            for (std::size_t j = 0; j < columns_; ++j) {
                walk(block.rows(), program(j, scratch), sums.get());
                visit(first, n_lanes, j, static_cast<const Sum*>(sums.get()));
            }
        });
        return;
    }
    std::vector<std::unique_ptr<LaneBlock<T>>> blocks;
    each_block<T>(counts.lanes, [&](std::size_t first, std::size_t n_lanes) {
        blocks.push_back(std::make_unique<LaneBlock<T>>(n_, true, factors));
        blocks.back()->load(counts, first, n_lanes);
    });
    for (std::size_t j = 0; j < columns_; ++j) {
        const Program own = program(j, scratch);
        each_block<T>(counts.lanes, [&](std::size_t first, std::size_t n_lanes) {
            walk(blocks[first / kLanes<T>]->rows(), own, sums.get());
            visit(first, n_lanes, j, static_cast<const Sum*>(sums.get()));
        });
    }
}

template <class Visit>
void RankPrograms::each_column(const Weightings<std::uint8_t>& counts, Visit&& visit) const {
    const Extent extent = extent_of(counts);
    if (extent.largest > 31) {  // four doubled counts would overflow a byte
        each_column_of<std::uint16_t, std::uint8_t, std::int64_t>(counts, visit, walk_words);
    } else if (extent.total > 32767) {  // doubled counts would overflow 16 bits
        each_column_of<std::uint8_t, std::uint8_t, std::int64_t>(counts, visit, walk_wide);
    } else {
        each_column_of<std::uint8_t, std::uint8_t, std::int64_t>(counts, visit, walk_narrow);
    }
}

}  // namespace heldout
