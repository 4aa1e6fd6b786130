#pragma once

#include "lanes.hpp"

namespace heldout {

// How often each unit is drawn by each of `n_bootstraps`, bootstrap by bootstrap. Throws
// std::overflow_error if a unit is drawn more than 255 times.
void draw_units(std::uint64_t seed, const std::uint64_t* bootstraps, std::size_t n_bootstraps,
                std::uint64_t attempt, std::size_t n_units, std::uint8_t* counts);

}  // namespace heldout
