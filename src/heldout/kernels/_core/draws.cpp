#include "draws.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "philox.hpp"

namespace heldout {

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
