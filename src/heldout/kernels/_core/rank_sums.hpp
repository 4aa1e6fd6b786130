// Twice the Mann-Whitney U of every column: RankSums of reference.py.
#pragma once

#include "divided.hpp"
#include "rank_program.hpp"

namespace heldout {

// With `folds` (n codes, or null) only rows of one fold are pairs.
class RankSums : public RankPrograms {
   public:
    RankSums(const Matrix& scores, const bool* positive, const bool* negative, const std::uint32_t* folds,
             std::size_t most_steps);

   private:
    void compile(const std::uint32_t* ranked, std::size_t n_ranked, StepWriter& write) const override;
    void walk_up(const std::uint32_t* ranked, std::size_t n_ranked, StepWriter& write) const;

    std::vector<std::uint8_t> positive_;
    Divided folds_;
};

}  // namespace heldout
