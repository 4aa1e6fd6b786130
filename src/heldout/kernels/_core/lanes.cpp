#include "lanes.hpp"

namespace heldout {

HELDOUT_CLONES void largest_and_total(const std::uint8_t* counts, std::size_t n, unsigned* largest,
                                      std::uint64_t* total) {
    std::uint8_t most = 0;
    std::uint64_t sum = 0;
    for (std::size_t first = 0; first < n; first += 4096) {  // 4096 * 255 fits 32 bits easily
        const std::size_t last = std::min(n, first + 4096);
        std::uint32_t part = 0;
        for (std::size_t i = first; i < last; ++i) {
            most = std::max(most, counts[i]);
            part += counts[i];
        }
        sum += part;
    }
    *largest = most;
    *total = sum;
}

Extent extent_of(const Weightings<std::uint8_t>& counts) {
    Extent extent;
    for (std::size_t l = 0; l < counts.lanes; ++l) {
        unsigned largest = 0;
        std::uint64_t total = 0;
        largest_and_total(counts.lane(l), counts.rows, &largest, &total);
        extent.largest = std::max(extent.largest, largest);
        extent.total = std::max(extent.total, total);
    }
    return extent;
}

namespace {

// Transposes an 8 x 8 square of bytes held in eight words, by swapping ever smaller off-diagonal squares.
HELDOUT_INLINE void transpose_square(std::uint64_t (&x)[8]) {
    for (int k = 0; k < 4; ++k) {
        const std::uint64_t t = ((x[k] >> 32) ^ x[k + 4]) & 0x00000000FFFFFFFFu;
        x[k] ^= t << 32;
        x[k + 4] ^= t;
    }
    for (int k : {0, 1, 4, 5}) {
        const std::uint64_t t = ((x[k] >> 16) ^ x[k + 2]) & 0x0000FFFF0000FFFFu;
        x[k] ^= t << 16;
        x[k + 2] ^= t;
    }
    for (int k : {0, 2, 4, 6}) {
        const std::uint64_t t = ((x[k] >> 8) ^ x[k + 1]) & 0x00FF00FF00FF00FFu;
        x[k] ^= t << 8;
        x[k + 1] ^= t;
    }
}

}  // namespace

void transpose_bytes(const std::uint8_t* from, std::size_t n_rows, std::size_t n_lanes, std::uint8_t* to) {
    constexpr std::size_t L = kLanes<std::uint8_t>;
    const std::size_t rows8 = n_rows / 8 * 8, lanes8 = n_lanes / 8 * 8;
    for (std::size_t l = 0; l < lanes8; l += 8) {
        for (std::size_t i = 0; i < rows8; i += 8) {
            std::uint64_t square[8];
            for (int k = 0; k < 8; ++k) std::memcpy(&square[k], from + (l + k) * n_rows + i, 8);
            transpose_square(square);
            for (int k = 0; k < 8; ++k) std::memcpy(to + (i + k) * L + l, &square[k], 8);
        }
        for (std::size_t i = rows8; i < n_rows; ++i) {
            for (std::size_t k = l; k < l + 8; ++k) to[i * L + k] = from[k * n_rows + i];
        }
    }
    for (std::size_t i = 0; i < n_rows && lanes8 < L; ++i) {
        std::memset(to + i * L + lanes8, 0, L - lanes8);
        for (std::size_t l = lanes8; l < n_lanes; ++l) to[i * L + l] = from[l * n_rows + i];
    }
}

HELDOUT_CLONES void double_lanes(const std::uint8_t* HELDOUT_RESTRICT from, std::size_t size,
                                 std::uint8_t* HELDOUT_RESTRICT to) {
    for (std::size_t k = 0; k < size; ++k) to[k] = static_cast<std::uint8_t>(from[k] + from[k]);
}

}  // namespace heldout
