// Twice the concordant pairs of every column, ties once: ConcordanceSums of reference.py.
#pragma once

#include "divided.hpp"
#include "rank_program.hpp"

namespace heldout {

// A pair is an event and a row with a later place in time. Places of events are odd, of censored rows even.
// With `factors` the weight of a pair is multiplied by the factor of its event, and only doubles are summed. With
// `folds` (n codes, or null) only rows of one fold are pairs.
class ConcordanceSums : public RankPrograms {
   public:
    ConcordanceSums(const Matrix& risks, const std::uint32_t* places, const double* factors,
                    const std::uint32_t* folds, std::size_t most_steps);

   private:
    struct Entry {
        std::uint32_t row, place, rank;  // rank: equal for equal risks
    };
    // For each place of one fold: how many rows, and how many events, have an earlier one; at the end, all.
    struct Times {
        std::vector<std::size_t> rows_before, events_before;
    };
    void compile(const std::uint32_t* ranked, std::size_t n_ranked, StepWriter& write) const override;
    void descend(Entry* entries, Entry* spare, std::size_t n, std::uint32_t low, std::uint32_t high,
                 const Times& times, StepWriter& write) const;
    void pair_by_pair(const Entry* entries, std::size_t n, StepWriter& write) const;
    void across(const Entry* entries, std::size_t n, std::uint32_t middle, std::size_t n_events,
                StepWriter& write) const;
    static std::uint32_t middle_of(std::uint32_t low, std::uint32_t high, const Times& times);
    std::uint32_t event_slot(std::uint32_t row) const { return has_factors() ? factored_slot(row) : row; }

    std::vector<std::uint32_t> places_;
    Divided folds_;
    std::vector<Times> times_;  // of each fold
};

}  // namespace heldout
