#pragma once

#include "lanes.hpp"

namespace heldout {

// How often each unit is drawn by each of `n_bootstraps`, bootstrap by bootstrap. Throws
// std::overflow_error where a unit is drawn more often than a byte can say.
void draw_units(std::uint64_t seed, const std::uint64_t* bootstraps, std::size_t n_bootstraps,
                std::uint64_t attempt, std::size_t n_units, std::uint8_t* counts);

}  // namespace heldout
