// Twice the Mann-Whitney U of every column, as reference.py's RankSums.
#pragma once

#include "rank_program.hpp"

namespace heldout {

class RankSums : public RankPrograms {
   public:
    RankSums(const Matrix& scores, const bool* positive, const bool* negative, std::size_t most_steps);

   private:
    void compile(const std::uint32_t* ranked, std::size_t n_ranked, StepWriter& write) const override;

    std::vector<std::uint8_t> positive_;
};

}  // namespace heldout
