// Philox4x64-10 (Salmon, Moraes, Dror & Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3"), counted
// as numpy.random.Philox counts: block k of four words belongs to the counter *after* k + 1 increments.
#pragma once

#include "lanes.hpp"

namespace heldout {

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

}  // namespace heldout
