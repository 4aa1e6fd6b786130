// Medians without a branch: the number of ascending rows up to which the cumulated weight is below half of the total
// is the place of the lower middle value, and the number up to which it is not above half is that of the upper one.
#include "medians.hpp"

#include <type_traits>

#include "column_order.hpp"

namespace heldout {

Medians::Medians(const Matrix& values)
    : n_(values.rows), n_columns_(values.columns), ascending_(n_ * n_columns_), order_(n_ * n_columns_) {
    std::vector<std::uint32_t> rows(n_);
    for (std::uint32_t i = 0; i < n_; ++i) rows[i] = i;
    ColumnOrder order(values, std::move(rows));
    for (std::size_t j = 0; j < n_columns_; ++j) {
        std::size_t k = j * n_;
        for (const Ranked& item : order.ascending(j)) {
            ascending_[k] = ColumnOrder::value_of(item.key);
            order_[k++] = item.row;
        }
    }
}

namespace {

// Real weights were scaled, so that a cumulated weight of exactly half of the total may miss it by rounding.
template <class Sum>
constexpr Sum kRounding = std::is_floating_point_v<Sum> ? Sum(1e-11) : Sum(0);

template <class Lane, class Sum, class Place>
HELDOUT_INLINE void places(const Lane* rows, std::size_t L, const std::uint32_t* order, std::size_t n,
                           Sum* HELDOUT_RESTRICT total, Sum* HELDOUT_RESTRICT passed,
                           Place* HELDOUT_RESTRICT lower, Place* HELDOUT_RESTRICT upper) {
    for (std::size_t l = 0; l < L; ++l) {
        total[l] = passed[l] = Sum(0);
        lower[l] = upper[l] = Place(0);
    }
    for (std::size_t k = 0; k < n; ++k) {
        const Lane* row = rows + order[k] * L;
        for (std::size_t l = 0; l < L; ++l) total[l] = static_cast<Sum>(total[l] + row[l]);
    }
    for (std::size_t k = 0; k < n; ++k) {
        const Lane* row = rows + order[k] * L;
        for (std::size_t l = 0; l < L; ++l) {
            const Sum now = static_cast<Sum>(passed[l] + row[l]);
            const Sum twice = static_cast<Sum>(now + now);
            passed[l] = now;
            const Sum slack = static_cast<Sum>(kRounding<Sum> * total[l]);
            lower[l] = static_cast<Place>(lower[l] + (twice < static_cast<Sum>(total[l] - slack)));
            upper[l] = static_cast<Place>(upper[l] + (twice <= static_cast<Sum>(total[l] + slack)));
        }
    }
}

template <class Sum, class Place>
double median_of(const double* ascending, std::size_t n, Sum total, Place lower, Place upper) {
    if (!(total > Sum(0))) return std::numeric_limits<double>::quiet_NaN();
    const double below = ascending[std::min(static_cast<std::size_t>(lower), n - 1)];
    const double above = ascending[std::min(static_cast<std::size_t>(upper), n - 1)];
    return below == above ? below : (below + above) / 2;
}

}  // namespace

HELDOUT_CLONES void places_narrow(const std::uint8_t* rows, const std::uint32_t* order, std::size_t n,
                                  std::uint16_t* total, std::uint16_t* passed, std::uint16_t* lower,
                                  std::uint16_t* upper) {
    places<std::uint8_t>(rows, kLanes<std::uint8_t>, order, n, total, passed, lower, upper);
}

HELDOUT_CLONES void places_wide(const std::uint8_t* rows, const std::uint32_t* order, std::size_t n,
                                std::int64_t* total, std::int64_t* passed, std::int64_t* lower,
                                std::int64_t* upper) {
    places<std::uint8_t>(rows, kLanes<std::uint8_t>, order, n, total, passed, lower, upper);
}

HELDOUT_CLONES void places_doubles(const double* rows, const std::uint32_t* order, std::size_t n, double* total,
                                   double* passed, std::int64_t* lower, std::int64_t* upper) {
    places<double>(rows, kLanes<double>, order, n, total, passed, lower, upper);
}

template <class Lane, class Sum, class Place, class In, class Walk>
void Medians::all_of(const Weightings<In>& weightings, double* medians, Walk walk) const {
    constexpr std::size_t L = kLanes<Lane>;
    LaneBlock<Lane> block(n_, false);
    Aligned<Sum> total(L), passed(L);
    Aligned<Place> lower(L), upper(L);
    each_block<Lane>(weightings.lanes, [&](std::size_t first, std::size_t n_lanes) {
        block.load(weightings, first, n_lanes);
        for (std::size_t j = 0; j < n_columns_; ++j) {
            walk(block.rows(), order_.data() + j * n_, n_, total.get(), passed.get(), lower.get(), upper.get());
            for (std::size_t l = 0; l < n_lanes; ++l) {
                medians[(first + l) * n_columns_ + j] =
                    median_of(ascending_.data() + j * n_, n_, total[l], lower[l], upper[l]);
            }
        }
    });
}

template <>
void Medians::all(const Weightings<std::uint8_t>& counts, double* medians) const {
    if (extent_of(counts).total < 32768 && n_ < 65536) {  // twice the total, and a place, in 16 bits
        all_of<std::uint8_t, std::uint16_t, std::uint16_t>(counts, medians, places_narrow);
    } else {
        all_of<std::uint8_t, std::int64_t, std::int64_t>(counts, medians, places_wide);
    }
}

template <>
void Medians::all(const Weightings<double>& weights, double* medians) const {
    all_of<double, double, std::int64_t>(weights, medians, places_doubles);
}

template <class T>
void Medians::selected(const Weightings<T>& weightings, const std::int64_t* columns, double* medians) const {
    for (std::size_t l = 0; l < weightings.lanes; ++l) {
        const auto j = static_cast<std::size_t>(columns[l]);
        double total, passed;
        std::int64_t lower, upper;
        places<T>(weightings.lane(l), 1, order_.data() + j * n_, n_, &total, &passed, &lower, &upper);
        medians[l] = median_of(ascending_.data() + j * n_, n_, total, lower, upper);
    }
}

template void Medians::selected(const Weightings<std::uint8_t>&, const std::int64_t*, double*) const;
template void Medians::selected(const Weightings<double>&, const std::int64_t*, double*) const;

}  // namespace heldout
