#include "calibration.hpp"

#include <cmath>
#include <stdexcept>

namespace heldout {

BinnedGaps::BinnedGaps(const double* values, const std::int32_t* bins, std::size_t n_rows, std::size_t n_columns,
                       std::size_t n_bins)
    : n_(n_rows),
      n_columns_(n_columns),
      n_bins_(n_bins),
      order_(n_rows * n_columns),
      values_(n_rows * n_columns),
      ends_(n_columns * n_bins) {
    std::vector<std::uint32_t> next(n_bins + 1);
    for (std::size_t j = 0; j < n_columns; ++j) {
        std::fill(next.begin(), next.end(), 0u);
        for (std::size_t i = 0; i < n_rows; ++i) {
            const std::int32_t bin = bins[i * n_columns + j];
            if (bin < 0 || static_cast<std::size_t>(bin) >= n_bins) {
                throw std::invalid_argument("a bin must be from 0 to n_bins - 1, and n_bins at least 1");
            }
            ++next[static_cast<std::size_t>(bin) + 1];
        }
        for (std::size_t k = 0; k < n_bins; ++k) ends_[j * n_bins + k] = next[k + 1] += next[k];
        for (std::size_t i = 0; i < n_rows; ++i) {
            const std::size_t at = j * n_rows + next[static_cast<std::size_t>(bins[i * n_columns + j])]++;
            order_[at] = static_cast<std::uint32_t>(i);
            values_[at] = values[i * n_columns + j];
        }
    }
}

namespace {

template <class Lane>
HELDOUT_INLINE void add_gaps(const Lane* rows, std::size_t L, const std::uint32_t* order, const double* values,
                             const std::uint32_t* ends, std::size_t n_bins, double* HELDOUT_RESTRICT sum,
                             double* HELDOUT_RESTRICT gaps) {
    for (std::size_t l = 0; l < L; ++l) gaps[l] = 0.0;
    for (std::size_t bin = 0, k = 0; bin < n_bins; ++bin) {
        for (std::size_t l = 0; l < L; ++l) sum[l] = 0.0;
        for (; k < ends[bin]; ++k) {
            const Lane* HELDOUT_RESTRICT w = rows + order[k] * L;
            for (std::size_t l = 0; l < L; ++l) sum[l] = sum[l] + static_cast<double>(w[l]) * values[k];
        }
        for (std::size_t l = 0; l < L; ++l) gaps[l] = gaps[l] + std::fabs(sum[l]);
    }
}

}  // namespace

HELDOUT_CLONES void gaps_of_lanes(const double* rows, const std::uint32_t* order, const double* values,
                                  const std::uint32_t* ends, std::size_t n_bins, double* gaps) {
    constexpr std::size_t L = kLanes<double>;
    alignas(64) double sum[L];
    add_gaps(rows, L, order, values, ends, n_bins, sum, gaps);
}

template <class T>
void BinnedGaps::all(const Weightings<T>& weightings, double* gaps) const {
    LaneBlock<double> block(n_, false);
    Aligned<double> of_lanes(kLanes<double>);
    each_block<double>(weightings.lanes, [&](std::size_t first, std::size_t n_lanes) {
        block.load(weightings, first, n_lanes);
        for (std::size_t j = 0; j < n_columns_; ++j) {
            gaps_of_lanes(block.rows(), order_.data() + j * n_, values_.data() + j * n_, ends_.data() + j * n_bins_,
                          n_bins_, of_lanes.get());
            for (std::size_t l = 0; l < n_lanes; ++l) gaps[(first + l) * n_columns_ + j] = of_lanes[l];
        }
    });
}

template <class T>
void BinnedGaps::selected(const Weightings<T>& weightings, const std::int64_t* columns, double* gaps) const {
    double sum;
    for (std::size_t l = 0; l < weightings.lanes; ++l) {
        const auto j = static_cast<std::size_t>(columns[l]);
        add_gaps(weightings.lane(l), 1, order_.data() + j * n_, values_.data() + j * n_, ends_.data() + j * n_bins_,
                 n_bins_, &sum, gaps + l);
    }
}

template void BinnedGaps::all(const Weightings<std::uint8_t>&, double*) const;
template void BinnedGaps::all(const Weightings<double>&, double*) const;
template void BinnedGaps::selected(const Weightings<std::uint8_t>&, const std::int64_t*, double*) const;
template void BinnedGaps::selected(const Weightings<double>&, const std::int64_t*, double*) const;

// Newton's method in all lanes at once: a lane that has ended waits for the others, unchanged.
namespace {

constexpr int kMostPasses = 200;
constexpr double kCloseEnough = 1e-9, kNearEnough = 1e-6, kFirstMove = 32.0;
constexpr double kLog2e = 1.4426950408889634, kLn2High = 0.693147180369123816490,
                 kLn2Low = 1.90821492927058770002e-10, kLeastExponent = -700.0;
constexpr int kDegree = 13;

struct Coefficients {
    double c[kDegree + 1];
    constexpr Coefficients() : c() {
        double factorial = 1.0;
        for (int k = 0; k <= kDegree; ++k) {
            c[k] = 1.0 / factorial;
            factorial *= k + 1;
        }
    }
};
constexpr Coefficients kExp;

// The polynomial of the coefficients from degree k on. A template, because a loop would not vectorise.
template <int k>
HELDOUT_INLINE double horner(double r) {
    if constexpr (k == kDegree) {
        return kExp.c[k];
    } else {
        return horner<k + 1>(r) * r + kExp.c[k];
    }
}

// exp(t) of t <= 0. Adding 1.5 * 2**52 rounds to a whole number, which is then in the low bits.
HELDOUT_INLINE double exp_of_nonpositive(double t) {
    constexpr double kRound = 6755399441055744.0;
    const double bounded = t < kLeastExponent ? kLeastExponent : t;
    const double shifted = bounded * kLog2e + kRound;
    const double k = shifted - kRound;
    const double r = (bounded - k * kLn2High) - k * kLn2Low;
    const double value = horner<0>(r);
    std::uint64_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;  // the low bits of `shifted` are k; the shift discards those above
    double power;
    std::memcpy(&power, &bits, sizeof power);
    return value * power;
}

constexpr std::size_t kSums = 5;  // g0, g1, h00, h01, h11

// The gradient of the log-likelihood and its negative second derivatives, (5, L).
template <class Lane>
HELDOUT_INLINE void slopes(const Lane* rows, std::size_t L, const LogisticFits::Column& column,
                           const double* HELDOUT_RESTRICT intercept, const double* HELDOUT_RESTRICT slope,
                           double* HELDOUT_RESTRICT sums) {
    for (std::size_t k = 0; k < kSums * L; ++k) sums[k] = 0.0;
    for (std::size_t i = 0; i < column.n; ++i) {
        const Lane* HELDOUT_RESTRICT w = rows + i * L;
        const double x = column.x[i], truth = column.truth[i];
        for (std::size_t l = 0; l < L; ++l) {
            const double log_odds = intercept[l] + slope[l] * x;
            const double e = exp_of_nonpositive(-std::fabs(log_odds));
            const double d = 1.0 / (1.0 + e), ed = e * d;
            const double wr = w[l] * (truth - (log_odds >= 0.0 ? d : ed)), wv = w[l] * (ed * d), wvx = wv * x;
            sums[l] = sums[l] + wr;
            sums[L + l] = sums[L + l] + wr * x;
            sums[2 * L + l] = sums[2 * L + l] + wv;
            sums[3 * L + l] = sums[3 * L + l] + wvx;
            sums[4 * L + l] = sums[4 * L + l] + wvx * x;
        }
    }
}

struct Search {
    double step[2] = {0.0, 0.0}, rise = 0.0, largest = kFirstMove;
    bool on = false;
};

struct Step {
    double intercept, slope;
    bool shortened;
    bool finite() const { return std::isfinite(intercept) && std::isfinite(slope); }
};

Step newton(const double* sums, std::size_t L, const LogisticFits::Column& column, double largest) {
    const double g0 = sums[0], g1 = sums[L], h00 = sums[2 * L], h01 = sums[3 * L], h11 = sums[4 * L];
    Step step;
    if (column.given_slope) {
        step = {g0 / h00, 0.0, false};
    } else {
        const double determinant = h00 * h11 - h01 * h01;
        step = {(h11 * g0 - h01 * g1) / determinant, (h00 * g1 - h01 * g0) / determinant, false};
    }
    const double move = std::fabs(step.intercept) + std::fabs(step.slope) * column.reach;
    const bool shortened = move > largest;
    const double shrink = shortened ? largest / move : 1.0;
    return {step.intercept * shrink, step.slope * shrink, shortened};
}

// Whether a step from there is at most this small, relative to the place.
bool is_step(const double* step, double at0, double at1, double size) {
    return std::fabs(step[0]) <= size * (1.0 + std::fabs(at0)) && std::fabs(step[1]) <= size * (1.0 + std::fabs(at1));
}

// One decision: take the next step, go back half of the last one, or stop. Writes the fit of a lane that stops.
void decide(const double* sums, std::size_t L, const LogisticFits::Column& column, Search& search, double* at0,
            double* at1, double* fit) {
    const bool arrived = sums[0] * search.step[0] + sums[L] * search.step[1] >= -0.5 * search.rise;
    if (!arrived) {
        for (double& part : search.step) part *= 0.5;
        search.rise *= 0.5;
        *at0 = *at0 - search.step[0];
        *at1 = *at1 - search.step[1];
        return;
    }
    const Step next = newton(sums, L, column, search.largest);
    const double move[2] = {next.intercept, next.slope};
    const bool small = is_step(move, *at0, *at1, kCloseEnough);
    if (!next.finite()) {
        search.on = false;
        return;
    }
    if (next.shortened) search.largest *= 2.0;
    search.rise = sums[0] * next.intercept + sums[L] * next.slope;
    search.step[0] = next.intercept;
    search.step[1] = next.slope;
    *at0 = *at0 + next.intercept;
    *at1 = *at1 + next.slope;
    if (!small) return;
    search.on = false;
    fit[0] = *at0;
    fit[1] = *at1;
}

// Whether the likelihood has a finite maximum in lane l.
template <class Lane>
bool has_maximum(const Lane* rows, std::size_t L, std::size_t l, const LogisticFits::Column& column) {
    constexpr double kFar = std::numeric_limits<double>::infinity();
    double low[2] = {kFar, kFar}, high[2] = {-kFar, -kFar};
    for (std::size_t i = 0; i < column.n; ++i) {
        if (!(rows[i * L + l] > 0)) continue;
        const int c = column.truth[i] > 0.5;
        low[c] = std::min(low[c], column.x[i]);
        high[c] = std::max(high[c], column.x[i]);
    }
    if (column.given_slope) return low[0] <= high[0] && low[1] <= high[1];
    return low[0] < high[1] && low[1] < high[0];
}

// Fits (2 a lane) by passes that `pass(intercepts, slopes, sums)` makes over the rows.
template <class Lane, class Pass>
HELDOUT_INLINE void search_lanes(const Lane* rows, std::size_t L, std::size_t n_lanes,
                                 const LogisticFits::Column& column, double* intercepts, double* slopes, double* sums,
                                 Search* searches, double* fits, Pass pass) {
    bool any = false;
    for (std::size_t l = 0; l < L; ++l) {
        intercepts[l] = column.start[0];
        slopes[l] = column.start[1];
        searches[l] = Search();
        fits[2 * l] = fits[2 * l + 1] = std::numeric_limits<double>::quiet_NaN();
        searches[l].on = l < n_lanes && has_maximum(rows, L, l, column);
        any |= searches[l].on;
    }
    for (int passes = 0; any && passes < kMostPasses; ++passes) {
        pass(intercepts, slopes, sums);
        any = false;
        for (std::size_t l = 0; l < n_lanes; ++l) {
            if (!searches[l].on) continue;
            decide(sums + l, L, column, searches[l], intercepts + l, slopes + l, fits + 2 * l);
            any |= searches[l].on;
        }
    }
    for (std::size_t l = 0; any && l < n_lanes; ++l) {  // rounding decides where a flat likelihood is level
        if (!searches[l].on || !is_step(searches[l].step, intercepts[l], slopes[l], kNearEnough)) continue;
        fits[2 * l] = intercepts[l];
        fits[2 * l + 1] = slopes[l];
    }
}

template <class Lane>
void fit_lane(const Lane* weights, const LogisticFits::Column& column, double* fit) {
    double intercept, slope, sums[kSums];
    Search search;
    search_lanes(weights, 1, 1, column, &intercept, &slope, sums, &search, fit,
                 [&](const double* a, const double* b, double* to) { slopes(weights, 1, column, a, b, to); });
}

}  // namespace

HELDOUT_CLONES void slopes_of_lanes(const double* rows, const LogisticFits::Column& column, const double* intercepts,
                                    const double* slope, double* sums) {
    slopes(rows, kLanes<double>, column, intercepts, slope, sums);
}

LogisticFits::LogisticFits(const Matrix& values, const bool* positive, bool given_slope)
    : n_(values.rows),
      n_columns_(values.columns),
      given_slope_(given_slope),
      truth_(positive, positive + values.rows),
      centred_(n_ * n_columns_),
      middles_(n_columns_),
      reaches_(n_columns_),
      starts_(2 * n_columns_) {
    const std::vector<double> once(n_, 1.0);
    for (std::size_t j = 0; j < n_columns_; ++j) {
        const auto value = [&](std::size_t i) {
            return values.data[static_cast<std::ptrdiff_t>(i) * values.row_stride +
                               static_cast<std::ptrdiff_t>(j) * values.column_stride];
        };
        double least = value(0), greatest = value(0);
        for (std::size_t i = 1; i < n_; ++i) {
            least = std::min(least, value(i));
            greatest = std::max(greatest, value(i));
        }
        middles_[j] = (least + greatest) / 2;
        for (std::size_t i = 0; i < n_; ++i) {
            const double x = centred_[j * n_ + i] = value(i) - middles_[j];
            reaches_[j] = std::max(reaches_[j], std::fabs(x));
        }
        starts_[2 * j] = given_slope ? middles_[j] : 0.0;
        starts_[2 * j + 1] = given_slope ? 1.0 : 0.0;
        double fit[2];
        fit_lane(once.data(), column(j), fit);
        if (std::isfinite(fit[0])) {
            starts_[2 * j] = fit[0];
            starts_[2 * j + 1] = fit[1];
        }
    }
}

LogisticFits::Column LogisticFits::column(std::size_t j) const {
    return {centred_.data() + j * n_, truth_.data(), n_, reaches_[j], {starts_[2 * j], starts_[2 * j + 1]},
            given_slope_};
}

void LogisticFits::write(const double* fit, std::size_t lane, std::size_t j, double* to) const {
    to[2 * lane] = fit[0] - fit[1] * middles_[j];
    to[2 * lane + 1] = fit[1];
}

template <class T>
void LogisticFits::all(const Weightings<T>& weightings, double* fits) const {
    constexpr std::size_t L = kLanes<double>;
    LaneBlock<double> block(n_, false);
    Aligned<double> intercepts(L), slopes(L), sums(kSums * L), of_lanes(2 * L);
    Search searches[L];
    each_block<double>(weightings.lanes, [&](std::size_t first, std::size_t n_lanes) {
        block.load(weightings, first, n_lanes);
        for (std::size_t j = 0; j < n_columns_; ++j) {
            const Column mine = column(j);
            search_lanes(block.rows(), L, n_lanes, mine, intercepts.get(), slopes.get(), sums.get(), searches,
                         of_lanes.get(), [&](const double* a, const double* b, double* to) {
                             slopes_of_lanes(block.rows(), mine, a, b, to);
                         });
            for (std::size_t l = 0; l < n_lanes; ++l) {
                write(of_lanes.get() + 2 * l, (first + l) * n_columns_ + j, j, fits);
            }
        }
    });
}

template <class T>
void LogisticFits::selected(const Weightings<T>& weightings, const std::int64_t* columns, double* fits) const {
    for (std::size_t l = 0; l < weightings.lanes; ++l) {
        const auto j = static_cast<std::size_t>(columns[l]);
        double fit[2];
        fit_lane(weightings.lane(l), column(j), fit);
        write(fit, l, j, fits);
    }
}

template void LogisticFits::all(const Weightings<std::uint8_t>&, double*) const;
template void LogisticFits::all(const Weightings<double>&, double*) const;
template void LogisticFits::selected(const Weightings<std::uint8_t>&, const std::int64_t*, double*) const;
template void LogisticFits::selected(const Weightings<double>&, const std::int64_t*, double*) const;

}  // namespace heldout
