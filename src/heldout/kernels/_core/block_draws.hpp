// Draws from a table that is read in blocks: split_draws and draw_block of reference_blocks.py.
#pragma once

#include "lanes.hpp"

namespace heldout {

// How many of the `n_rows` draws of each bootstrap fall into each block: `totals` (n_bootstraps, n_blocks).
void split_draws(std::uint64_t seed, const std::uint64_t* bootstraps, std::size_t n_bootstraps,
                 std::uint64_t attempt, std::uint64_t n_rows, std::uint64_t block_rows, std::size_t n_blocks,
                 std::int64_t* totals);

// How often each row of one block is drawn, by bootstraps that draw `totals` times from it. Throws
// std::overflow_error if a row is drawn more than 255 times.
void draw_block(std::uint64_t seed, const std::uint64_t* bootstraps, std::size_t n_bootstraps,
                std::uint64_t attempt, std::uint64_t block, const std::int64_t* totals, std::size_t n_rows,
                std::uint8_t* counts);

}  // namespace heldout
