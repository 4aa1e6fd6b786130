// Both measures are sums over positive rows: each counts or not, or counts with the allowed false alarms that are left
// at its score. Negatives only move along the curve, so those between two positives are merged, and a pass ends as
// soon as no lane has false alarms left.
#include "curve_start.hpp"

#include "column_order.hpp"

namespace heldout {

namespace {

constexpr double kSlack = 1e-12;
constexpr std::size_t kLookEvery = 8;  // scores between two checks whether all lanes have ended

class StepWriter {
   public:
    StepWriter(std::vector<CurveStep>& steps, std::uint32_t zero) : steps_(steps), zero_(zero) {}

    void negative(std::uint32_t row) {
        if (n_positive_ > 0 || n_negative_ == 4) open();
        steps_.back().negative[n_negative_++] = row;
    }
    void positive(std::uint32_t row) {
        if (n_positive_ == 4) open();
        steps_.back().positive[n_positive_++] = row;
    }
    void tie() {
        if (n_negative_ > 0 || n_positive_ > 0) open();
        steps_.back().opens = true;
    }
    void close(CurveEnd end) {
        steps_.back().closes = end;
        open();
    }
    void open() {
        steps_.push_back({{zero_, zero_, zero_, zero_}, {zero_, zero_, zero_, zero_}, false, CurveEnd::none});
        n_negative_ = n_positive_ = 0;
    }

   private:
    std::vector<CurveStep>& steps_;
    std::uint32_t zero_;
    int n_negative_ = 0, n_positive_ = 0;
};

}  // namespace

CurveStart::CurveStart(const Matrix& scores, const bool* positive, double share, bool area)
    : n_(scores.rows), share_(share), area_(area) {
    std::vector<std::uint32_t> rows(n_);
    for (std::uint32_t i = 0; i < n_; ++i) {
        rows[i] = i;
        (positive[i] ? positives_ : negatives_).push_back(i);
    }
    ColumnOrder order(scores, std::move(rows));
    StepWriter write(steps_, static_cast<std::uint32_t>(n_));
    starts_.push_back(0);
    for (std::size_t j = 0; j < scores.columns; ++j) {
        const std::vector<Ranked>& ranked = order.ascending(j);
        write.open();
        for (std::size_t last = n_, first; last > 0; last = first) {
            std::size_t n_positive = 0;
            for (first = last; first > 0 && ranked[first - 1].key == ranked[last - 1].key; --first) {
                n_positive += positive[ranked[first - 1].row];
            }
            const bool tied = n_positive > 0 && n_positive < last - first;
            if (tied) write.tie();
            for (std::size_t k = first; k < last; ++k) {
                if (!positive[ranked[k].row]) write.negative(ranked[k].row);
            }
            for (std::size_t k = first; k < last && n_positive > 0; ++k) {
                if (positive[ranked[k].row]) write.positive(ranked[k].row);
            }
            if (n_positive > 0) write.close(tied ? CurveEnd::tied : CurveEnd::positives);
        }
        starts_.push_back(steps_.size());
    }
}

namespace {

// The sums of a pass in each lane. `allowed` is the weight of false alarms up to which positives are counted.
template <class Sum>
struct Progress {
    Sum *passed, *above, *found, *counted;
};

template <class Lane, class Sum>
HELDOUT_INLINE void advance(const Lane* rows, std::size_t L, const CurveStep& step, const Progress<Sum>& at) {
    const Lane* n[4];
    const Lane* p[4];
    for (int k = 0; k < 4; ++k) {
        n[k] = rows + step.negative[k] * L;
        p[k] = rows + step.positive[k] * L;
    }
    Sum* HELDOUT_RESTRICT passed = at.passed;
    Sum* HELDOUT_RESTRICT found = at.found;
    for (std::size_t l = 0; l < L; ++l) {
        if constexpr (std::numeric_limits<Lane>::is_integer) {
            passed[l] += static_cast<Sum>(static_cast<Lane>(n[0][l] + n[1][l] + n[2][l] + n[3][l]));
            found[l] += static_cast<Sum>(static_cast<Lane>(p[0][l] + p[1][l] + p[2][l] + p[3][l]));
        } else {
            passed[l] = passed[l] + n[0][l] + n[1][l] + n[2][l] + n[3][l];
            found[l] = found[l] + p[0][l] + p[1][l] + p[2][l] + p[3][l];
        }
    }
}

template <class Sum>
HELDOUT_INLINE bool through(std::size_t L, const Sum* passed, const double* allowed) {
    int within = 0;
    for (std::size_t l = 0; l < L; ++l) within |= static_cast<double>(passed[l]) <= allowed[l];
    return !within;
}

template <bool area, class Sum>
HELDOUT_INLINE void count(std::size_t L, bool tied, const Progress<Sum>& at, const double* HELDOUT_RESTRICT allowed,
                          double* HELDOUT_RESTRICT sum) {
    const Sum* HELDOUT_RESTRICT passed = at.passed;
    const Sum* HELDOUT_RESTRICT found = at.found;
    const Sum* HELDOUT_RESTRICT above = tied ? at.above : at.passed;
    Sum* HELDOUT_RESTRICT counted = at.counted;
    for (std::size_t l = 0; l < L; ++l) {
        const double gained = static_cast<double>(found[l] - counted[l]), down_to = static_cast<double>(passed[l]);
        counted[l] = found[l];
        if constexpr (!area) {
            sum[l] = sum[l] + (down_to <= allowed[l] ? gained : 0.0);
        } else {
            const double before = std::max(allowed[l] - static_cast<double>(above[l]), 0.0);
            const double after = std::max(allowed[l] - down_to, 0.0);
            double width = after > 0.0 ? before + after : 0.0;
            if (tied) {
                const double between = down_to - static_cast<double>(above[l]);
                const double ends_within = before * before / (between > 0.0 ? between : 1.0);
                width = after > 0.0 ? width : ends_within;
            }
            sum[l] = sum[l] + gained * width;
        }
    }
}

template <bool area, class Lane, class Sum>
HELDOUT_INLINE void walk(const Lane* rows, std::size_t L, const CurveStep* step, const CurveStep* end,
                         const Progress<Sum>& at, const double* allowed, double* sum) {
    for (std::size_t l = 0; l < L; ++l) {
        at.passed[l] = at.above[l] = at.found[l] = at.counted[l] = Sum(0);
        sum[l] = 0.0;
    }
    for (std::size_t closed = 0; step != end; ++step) {
        if (area && step->opens) std::copy(at.passed, at.passed + L, at.above);
        advance(rows, L, *step, at);
        if (step->closes == CurveEnd::none) continue;
        if (step->closes == CurveEnd::tied) {
            count<area>(L, true, at, allowed, sum);
        } else {
            count<area>(L, false, at, allowed, sum);
        }
        if (++closed % kLookEvery == 0 && through(L, at.passed, allowed)) return;  // never within a tie
    }
}

template <class Lane, class Sum>
HELDOUT_INLINE void walk_lanes(const Lane* rows, bool area, const CurveStep* begin, const CurveStep* end,
                               const double* allowed, double* sums) {
    constexpr std::size_t L = kLanes<Lane>;
    alignas(64) Sum passed[L], above[L], found[L], counted[L];
    const Progress<Sum> at{passed, above, found, counted};
    if (area) {
        walk<true>(rows, L, begin, end, at, allowed, sums);
    } else {
        walk<false>(rows, L, begin, end, at, allowed, sums);
    }
}

bool narrow_enough(const Extent& extent) {
    return extent.largest <= 63 && extent.total < (std::uint64_t(1) << 31);  // four counts in a byte
}

double value_of(bool area, double sum, double positives, double negatives) {
    if (area) return sum / (2.0 * positives * negatives);
    if (!(positives > 0.0 && negatives > 0.0)) return std::numeric_limits<double>::quiet_NaN();
    return std::min(sum / positives, 1.0);
}

double allowed_of(bool area, double negatives, double share) {
    return area ? negatives * share : negatives * share * (1 + kSlack);
}

}  // namespace

HELDOUT_CLONES void curve_narrow(const std::uint8_t* rows, bool area, const CurveStep* begin, const CurveStep* end,
                                 const double* allowed, double* sums) {
    walk_lanes<std::uint8_t, std::int32_t>(rows, area, begin, end, allowed, sums);
}

HELDOUT_CLONES void curve_words(const std::uint16_t* rows, bool area, const CurveStep* begin, const CurveStep* end,
                                const double* allowed, double* sums) {
    walk_lanes<std::uint16_t, std::int64_t>(rows, area, begin, end, allowed, sums);
}

HELDOUT_CLONES void curve_doubles(const double* rows, bool area, const CurveStep* begin, const CurveStep* end,
                                  const double* allowed, double* sums) {
    walk_lanes<double, double>(rows, area, begin, end, allowed, sums);
}

template <class Lane>
void CurveStart::totals(const Lane* rows, std::size_t L, double* positives, double* negatives) const {
    std::fill(positives, positives + L, 0.0);
    std::fill(negatives, negatives + L, 0.0);
    for (const std::uint32_t i : positives_) {
        for (std::size_t l = 0; l < L; ++l) positives[l] = positives[l] + static_cast<double>(rows[i * L + l]);
    }
    for (const std::uint32_t i : negatives_) {
        for (std::size_t l = 0; l < L; ++l) negatives[l] = negatives[l] + static_cast<double>(rows[i * L + l]);
    }
}

template <class Lane, class In, class Walk>
void CurveStart::all_of(const Weightings<In>& weightings, double* values, Walk walk) const {
    constexpr std::size_t L = kLanes<Lane>;
    LaneBlock<Lane> block(n_, false);
    Aligned<double> sums(L), positives(L), negatives(L), allowed(L);
    each_block<Lane>(weightings.lanes, [&](std::size_t first, std::size_t n_lanes) {
        block.load(weightings, first, n_lanes);
        totals(block.rows(), L, positives.get(), negatives.get());
        for (std::size_t l = 0; l < L; ++l) {  // lanes without weight have ended before the start
            allowed[l] = l < n_lanes ? allowed_of(area_, negatives[l], share_) : -1.0;
        }
        for (std::size_t j = 0; j < columns(); ++j) {
            walk(block.rows(), area_, steps_.data() + starts_[j], steps_.data() + starts_[j + 1], allowed.get(),
                 sums.get());
            for (std::size_t l = 0; l < n_lanes; ++l) {
                values[(first + l) * columns() + j] = value_of(area_, sums[l], positives[l], negatives[l]);
            }
        }
    });
}

template <>
void CurveStart::all(const Weightings<std::uint8_t>& counts, double* values) const {
    if (narrow_enough(extent_of(counts))) {
        all_of<std::uint8_t>(counts, values, curve_narrow);
    } else {
        all_of<std::uint16_t>(counts, values, curve_words);
    }
}

template <>
void CurveStart::all(const Weightings<double>& weights, double* values) const {
    all_of<double>(weights, values, curve_doubles);
}

template <class T>
void CurveStart::selected(const Weightings<T>& weightings, const std::int64_t* columns, double* values) const {
    std::vector<double> lane(n_ + 1);  // counts are exact in doubles
    for (std::size_t l = 0; l < weightings.lanes; ++l) {
        std::copy(weightings.lane(l), weightings.lane(l) + n_, lane.begin());
        double positives, negatives, sum, passed, above, found, counted;
        totals(lane.data(), 1, &positives, &negatives);
        const double allowed = allowed_of(area_, negatives, share_);
        const Progress<double> at{&passed, &above, &found, &counted};
        const CurveStep* begin = steps_.data() + starts_[static_cast<std::size_t>(columns[l])];
        const CurveStep* end = steps_.data() + starts_[static_cast<std::size_t>(columns[l]) + 1];
        if (area_) {
            walk<true>(lane.data(), 1, begin, end, at, &allowed, &sum);
        } else {
            walk<false>(lane.data(), 1, begin, end, at, &allowed, &sum);
        }
        values[l] = value_of(area_, sum, positives, negatives);
    }
}

template void CurveStart::selected(const Weightings<std::uint8_t>&, const std::int64_t*, double*) const;
template void CurveStart::selected(const Weightings<double>&, const std::int64_t*, double*) const;

}  // namespace heldout
