// A row's place is the weight below it plus the weight up to it. The target's places are computed once per lane and stay
// with the rows, times their weights; a column then takes one pass over its order.
#include "rank_correlations.hpp"

#include <cmath>

#include "column_order.hpp"

namespace heldout {

TiedOrder::TiedOrder(const Matrix& values) : n_(values.rows), order_(n_ * values.columns) {
    std::vector<std::uint32_t> rows(n_);
    for (std::uint32_t i = 0; i < n_; ++i) rows[i] = i;
    ColumnOrder order(values, std::move(rows));
    for (std::size_t j = 0; j < values.columns; ++j) {
        const std::vector<Ranked>& ranked = order.ascending(j);
        std::uint32_t* to = order_.data() + j * n_;
        for (std::size_t k = 0; k < n_; ++k) {
            const bool tied = k + 1 < n_ && ranked[k + 1].key == ranked[k].key;
            to[k] = ranked[k].row | (tied ? kTied : 0u);
        }
    }
}

RankCorrelations::RankCorrelations(const Matrix& values, const double* target)
    : n_(values.rows), n_columns_(values.columns), order_(values), target_({target, values.rows, 1, 1, 1}) {}

namespace {

// Calls `visit(rows begin, rows end)` for each set of tied rows, ascending.
template <class Visit>
HELDOUT_INLINE void each_tie(const std::uint32_t* row, const std::uint32_t* end, Visit visit) {
    while (row != end) {
        const std::uint32_t* first = row;
        while (*row++ & TiedOrder::kTied) {
        }
        visit(first, row);
    }
}

HELDOUT_INLINE void pass(const double* rows, std::size_t L, const std::uint32_t* first, const std::uint32_t* last,
                         const double* HELDOUT_RESTRICT below, double* HELDOUT_RESTRICT down_to,
                         double* HELDOUT_RESTRICT cubes) {
    for (const std::uint32_t* at = first; at != last; ++at) {
        const double* HELDOUT_RESTRICT w = rows + (*at & ~TiedOrder::kTied) * L;
        for (std::size_t l = 0; l < L; ++l) down_to[l] = down_to[l] + w[l];
    }
    for (std::size_t l = 0; l < L; ++l) {
        const double tied = down_to[l] - below[l];
        cubes[l] = cubes[l] + tied * tied * tied;
    }
}

HELDOUT_INLINE double spread_of(double total, double cubes) { return (total * total * total - cubes) / 3.0; }

// The target's places times the weights, (n, L), and the target's spread.
HELDOUT_INLINE void carry(const double* rows, std::size_t L, const std::uint32_t* begin, const std::uint32_t* end,
                          double* below, double* down_to, double* cubes, double* carried, double* spread) {
    for (std::size_t l = 0; l < L; ++l) below[l] = down_to[l] = cubes[l] = 0.0;
    each_tie(begin, end, [&](const std::uint32_t* first, const std::uint32_t* last) {
        pass(rows, L, first, last, below, down_to, cubes);
        for (const std::uint32_t* at = first; at != last; ++at) {
            double* HELDOUT_RESTRICT place = carried + (*at & ~TiedOrder::kTied) * L;
            for (std::size_t l = 0; l < L; ++l) place[l] = below[l] + down_to[l];
        }
        for (std::size_t l = 0; l < L; ++l) below[l] = down_to[l];
    });
    for (const std::uint32_t* at = begin; at != end; ++at) {
        const std::size_t row = (*at & ~TiedOrder::kTied) * L;
        for (std::size_t l = 0; l < L; ++l) carried[row + l] = rows[row + l] * (carried[row + l] - down_to[l]);
    }
    for (std::size_t l = 0; l < L; ++l) spread[l] = spread_of(down_to[l], cubes[l]);
}

HELDOUT_INLINE void correlate(const double* rows, const double* carried, const double* target_spread, std::size_t L,
                              const std::uint32_t* begin, const std::uint32_t* end, double* HELDOUT_RESTRICT below,
                              double* HELDOUT_RESTRICT down_to, double* HELDOUT_RESTRICT cubes,
                              double* HELDOUT_RESTRICT together) {
    for (std::size_t l = 0; l < L; ++l) below[l] = down_to[l] = cubes[l] = together[l] = 0.0;
    for (const std::uint32_t* row = begin; row != end;) {
        if (!(*row & TiedOrder::kTied)) {  // most rows: one loop instead of four
            const double* HELDOUT_RESTRICT w = rows + *row * L;
            const double* HELDOUT_RESTRICT c = carried + *row++ * L;
            for (std::size_t l = 0; l < L; ++l) {
                const double now = below[l] + w[l], alone = now - below[l];
                cubes[l] = cubes[l] + alone * alone * alone;
                together[l] = together[l] + (below[l] + now) * c[l];
                below[l] = now;
            }
            continue;
        }
        const std::uint32_t* first = row;
        while (*row++ & TiedOrder::kTied) {
        }
        for (std::size_t l = 0; l < L; ++l) down_to[l] = below[l];
        pass(rows, L, first, row, below, down_to, cubes);
        for (; first != row; ++first) {
            const double* HELDOUT_RESTRICT c = carried + (*first & ~TiedOrder::kTied) * L;
            for (std::size_t l = 0; l < L; ++l) together[l] = together[l] + (below[l] + down_to[l]) * c[l];
        }
        for (std::size_t l = 0; l < L; ++l) below[l] = down_to[l];
    }
    for (std::size_t l = 0; l < L; ++l) {
        const double spread = spread_of(below[l], cubes[l]);
        const double correlation = together[l] / std::sqrt(spread * target_spread[l]);
        const bool defined = spread > 0.0 && target_spread[l] > 0.0;
        together[l] = defined ? std::min(std::max(correlation, -1.0), 1.0) : std::numeric_limits<double>::quiet_NaN();
    }
}

}  // namespace

HELDOUT_CLONES void carry_lanes(const double* rows, const std::uint32_t* begin, const std::uint32_t* end,
                                double* carried, double* spread) {
    constexpr std::size_t L = kLanes<double>;
    alignas(64) double below[L], down_to[L], cubes[L];
    carry(rows, L, begin, end, below, down_to, cubes, carried, spread);
}

HELDOUT_CLONES void correlate_lanes(const double* rows, const double* carried, const double* target_spread,
                                    const std::uint32_t* begin, const std::uint32_t* end, double* together) {
    constexpr std::size_t L = kLanes<double>;
    alignas(64) double below[L], down_to[L], cubes[L];
    correlate(rows, carried, target_spread, L, begin, end, below, down_to, cubes, together);
}

template <class T>
void RankCorrelations::all(const Weightings<T>& weightings, double* correlations) const {
    constexpr std::size_t L = kLanes<double>;
    LaneBlock<double> block(n_, false);  // counts are exact in doubles
    Aligned<double> carried(n_ * L), target_spread(L), together(L);
    each_block<double>(weightings.lanes, [&](std::size_t first, std::size_t n_lanes) {
        block.load(weightings, first, n_lanes);
        carry_lanes(block.rows(), target_.begin(0), target_.end(0), carried.get(), target_spread.get());
        for (std::size_t j = 0; j < n_columns_; ++j) {
            correlate_lanes(block.rows(), carried.get(), target_spread.get(), order_.begin(j), order_.end(j),
                            together.get());
            for (std::size_t l = 0; l < n_lanes; ++l) correlations[(first + l) * n_columns_ + j] = together[l];
        }
    });
}

template <class T>
void RankCorrelations::selected(const Weightings<T>& weightings, const std::int64_t* columns,
                                double* correlations) const {
    std::vector<double> lane(n_), carried(n_);
    double below, down_to, cubes, target_spread;
    for (std::size_t l = 0; l < weightings.lanes; ++l) {
        std::copy(weightings.lane(l), weightings.lane(l) + n_, lane.begin());
        carry(lane.data(), 1, target_.begin(0), target_.end(0), &below, &down_to, &cubes, carried.data(),
              &target_spread);
        const auto j = static_cast<std::size_t>(columns[l]);
        correlate(lane.data(), carried.data(), &target_spread, 1, order_.begin(j), order_.end(j), &below, &down_to,
                  &cubes, correlations + l);
    }
}

template void RankCorrelations::all(const Weightings<std::uint8_t>&, double*) const;
template void RankCorrelations::all(const Weightings<double>&, double*) const;
template void RankCorrelations::selected(const Weightings<std::uint8_t>&, const std::int64_t*, double*) const;
template void RankCorrelations::selected(const Weightings<double>&, const std::int64_t*, double*) const;

}  // namespace heldout
