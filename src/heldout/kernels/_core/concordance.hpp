// Twice the concordant pairs of every column, ties once, as reference_concordance.py's ConcordanceSums.
#pragma once

#include "rank_program.hpp"

namespace heldout {

// A pair is an event and a row with a later place in time. Places of events are odd, of censored rows even.
// With `factors` the weight of a pair is multiplied by that of its event; then only doubles are summed.
class ConcordanceSums : public RankPrograms {
   public:
    ConcordanceSums(const Matrix& risks, const std::uint32_t* places, const double* factors, std::size_t most_steps);

   private:
    struct Entry {
        std::uint32_t row, place, rank;  // rank: equal for equal risks
    };
    void compile(const std::uint32_t* ranked, std::size_t n_ranked, StepWriter& write) const override;
    void descend(Entry* entries, Entry* spare, std::size_t n, std::uint32_t low, std::uint32_t high,
                 StepWriter& write) const;
    void pair_by_pair(const Entry* entries, std::size_t n, StepWriter& write) const;
    void across(const Entry* entries, std::size_t n, std::uint32_t middle, std::size_t n_events,
                StepWriter& write) const;
    std::uint32_t middle_of(std::uint32_t low, std::uint32_t high) const;
    std::uint32_t event_slot(std::uint32_t row) const { return has_factors() ? factored_slot(row) : row; }

    std::vector<std::uint32_t> places_;
    std::vector<std::size_t> rows_before_, events_before_;  // each place, and the one after the last
};

}  // namespace heldout
