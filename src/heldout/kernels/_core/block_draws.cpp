#include "block_draws.hpp"

#include <stdexcept>

#include "philox.hpp"

namespace heldout {

namespace {

constexpr std::uint64_t kSplit = 1ull << 63;  // the last word of the counter, in place of a block

HELDOUT_INLINE int ones_of(std::uint64_t word) {
    word -= word >> 1 & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    return static_cast<int>(word * 0x0101010101010101u >> 56);
}

// The words of one bootstrap's stream for the split.
struct Stream {
    std::uint64_t seed, bootstrap, attempt;
    std::uint64_t blocks = 0;
    Four raw{};
    std::size_t next = 4;

    HELDOUT_INLINE std::uint64_t word() {
        if (next == 4) {
            raw = philox({{++blocks, 0, attempt, kSplit}}, seed, bootstrap);
            next = 0;
        }
        return raw.word[next++];
    }
    // How many of the next `n` digits are one; the rest of the last word is discarded.
    HELDOUT_INLINE std::uint64_t ones(std::uint64_t n) {
        std::uint64_t found = 0;
        for (; n >= 64; n -= 64) found += static_cast<std::uint64_t>(ones_of(word()));
        if (n) found += static_cast<std::uint64_t>(ones_of(word() & ((1ull << n) - 1)));
        return found;
    }
};

// Successes of `trials`, each with probability part / whole: a trial succeeds if its digits, read as a binary
// fraction, are below part / whole. The first few digits decide most trials.
std::uint64_t successes_of(std::uint64_t trials, std::uint64_t part, std::uint64_t whole, Stream& stream) {
    std::uint64_t successes = 0;
    while (trials && part) {
        part *= 2;
        const bool digit = part >= whole;
        if (digit) part -= whole;
        const std::uint64_t ones = stream.ones(trials);
        if (digit) successes += trials - ones;
        trials = digit ? ones : trials - ones;
    }
    return successes;
}

struct Split {
    std::uint64_t n_rows, block_rows;
    std::int64_t* totals;

    std::uint64_t end(std::uint64_t block) const { return std::min(n_rows, block * block_rows); }

    void among(std::uint64_t first, std::uint64_t last, std::uint64_t draws, Stream& stream) const {
        if (last - first == 1) {
            totals[first] = static_cast<std::int64_t>(draws);
            return;
        }
        const std::uint64_t middle = first + (last - first) / 2;
        const std::uint64_t lower = successes_of(draws, end(middle) - end(first), end(last) - end(first), stream);
        among(first, middle, lower, stream);
        among(middle, last, draws - lower, stream);
    }
};

}  // namespace

void split_draws(std::uint64_t seed, const std::uint64_t* bootstraps, std::size_t n_bootstraps,
                 std::uint64_t attempt, std::uint64_t n_rows, std::uint64_t block_rows, std::size_t n_blocks,
                 std::int64_t* totals) {
    for (std::size_t b = 0; b < n_bootstraps; ++b) {
        Stream stream{seed, bootstraps[b], attempt};
        Split{n_rows, block_rows, totals + b * n_blocks}.among(0, n_blocks, n_rows, stream);
    }
}

void draw_block(std::uint64_t seed, const std::uint64_t* bootstraps, std::size_t n_bootstraps,
                std::uint64_t attempt, std::uint64_t block, const std::int64_t* totals, std::size_t n_rows,
                std::uint8_t* counts) {
    for (std::size_t b = 0; b < n_bootstraps; ++b) {
        std::uint8_t* lane = counts + b * n_rows;
        std::fill(lane, lane + n_rows, std::uint8_t(0));
        const auto total = static_cast<std::uint64_t>(totals[b]);
        bool overflown = false;
        for (std::uint64_t first = 0; first < total; first += 4) {
            const Four raw = philox({{first / 4 + 1, 0, attempt, block}}, seed, bootstraps[b]);
            const std::uint64_t words = std::min<std::uint64_t>(4, total - first);
            for (std::uint64_t k = 0; k < words; ++k) overflown |= !++lane[multiply(raw.word[k], n_rows).high];
        }
        if (overflown) {
            throw std::overflow_error("a row was drawn more than 255 times in one bootstrap; at most 255 fit");
        }
    }
}

}  // namespace heldout
