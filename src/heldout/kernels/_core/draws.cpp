// Philox4x64-10 (Salmon, Moraes, Dror & Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3"), counted
// as numpy.random.Philox counts: block k of four words belongs to the counter *after* k + 1 increments.
#include "draws.hpp"

#include <stdexcept>
#include <string>
#include <vector>

namespace heldout {

namespace {

struct Product {
    std::uint64_t high, low;
};

HELDOUT_INLINE Product multiply(std::uint64_t a, std::uint64_t b) {
#if defined(__SIZEOF_INT128__)
    const auto product = static_cast<unsigned __int128>(a) * b;
    return {static_cast<std::uint64_t>(product >> 64), static_cast<std::uint64_t>(product)};
#else
    const std::uint64_t al = a & 0xFFFFFFFFu, ah = a >> 32, bl = b & 0xFFFFFFFFu, bh = b >> 32;
    const std::uint64_t low = al * bl, middle = ah * bl + (low >> 32), other = al * bh + (middle & 0xFFFFFFFFu);
    return {ah * bh + (middle >> 32) + (other >> 32), a * b};
#endif
}

struct Four {
    std::uint64_t word[4];
};

HELDOUT_INLINE Four philox(Four c, std::uint64_t key0, std::uint64_t key1) {
    for (int round = 0; round < 10; ++round) {
        const Product p0 = multiply(0xD2E7470EE14C6C93u, c.word[0]);
        const Product p1 = multiply(0xCA5A826395121157u, c.word[2]);
        c = {{p1.high ^ c.word[1] ^ key0, p1.low, p0.high ^ c.word[3] ^ key1, p0.low}};
        key0 += 0x9E3779B97F4A7C15u;
        key1 += 0xBB67AE8584CAA73Bu;
    }
    return c;
}

}  // namespace

void draw_units(std::uint64_t seed, const std::uint64_t* bootstraps, std::size_t n_bootstraps,
                std::uint64_t attempt, std::size_t n_units, std::uint8_t* counts) {
    std::vector<std::uint32_t> drawn(n_units);
    for (std::size_t b = 0; b < n_bootstraps; ++b) {
        std::fill(drawn.begin(), drawn.end(), 0u);
        for (std::size_t first = 0; first < n_units; first += 4) {
            const Four raw = philox({{first / 4 + 1, 0, attempt, 0}}, seed, bootstraps[b]);
            const std::size_t words = std::min<std::size_t>(4, n_units - first);
            for (std::size_t k = 0; k < words; ++k) ++drawn[multiply(raw.word[k], n_units).high];
        }
        std::uint32_t most = 0;
        std::uint8_t* lane = counts + b * n_units;
        for (std::size_t i = 0; i < n_units; ++i) {
            most = std::max(most, drawn[i]);
            lane[i] = static_cast<std::uint8_t>(drawn[i]);
        }
        if (most > 255) {
            throw std::overflow_error("a unit was drawn " + std::to_string(most) +
                                      " times in one bootstrap; at most 255 fit");
        }
    }
}

}  // namespace heldout
