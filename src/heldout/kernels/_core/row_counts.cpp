#include "row_counts.hpp"

namespace heldout {

void cut_rows(const Weightings<std::uint8_t>& counts, const std::int64_t* rows, std::size_t n_cut,
              std::uint8_t* cut) {
    for (std::size_t l = 0; l < counts.lanes; ++l) {
        const std::uint8_t* lane = counts.lane(l);
        std::uint8_t* HELDOUT_RESTRICT to = cut + l * n_cut;
        for (std::size_t k = 0; k < n_cut; ++k) to[k] = lane[rows[k]];
    }
}

constexpr std::size_t kAddedTogether = 1u << 16;  // rows whose counts fit 32 bits

HELDOUT_CLONES std::uint32_t sum_of_bytes(const std::uint8_t* counts, std::size_t n) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += counts[i];
    return sum;
}

HELDOUT_CLONES std::uint32_t sum_of_flagged(const std::uint8_t* counts, const bool* flags, std::size_t n) {
    std::uint32_t sum = 0;
    // A mask of the bits, because a condition would not vectorise.
    for (std::size_t i = 0; i < n; ++i) sum += std::uint8_t(counts[i] & std::uint8_t(-std::uint8_t(flags[i])));
    return sum;
}

void total_counts(const Weightings<std::uint8_t>& counts, const bool* flags, double* totals) {
    for (std::size_t l = 0; l < counts.lanes; ++l) {
        std::uint64_t total = 0;
        for (std::size_t first = 0; first < counts.rows; first += kAddedTogether) {
            const std::uint8_t* part = counts.lane(l) + first;
            const std::size_t n = std::min(kAddedTogether, counts.rows - first);
            total += flags ? sum_of_flagged(part, flags + first, n) : sum_of_bytes(part, n);
        }
        totals[l] = static_cast<double>(total);
    }
}

}  // namespace heldout
