// A threshold at which no positive row is added changes nothing, so only the others are evaluated, and the rows between
// them are merged. All lanes go through the same thresholds in the same order, in doubles.
#include "precision_sums.hpp"

#include "column_order.hpp"

namespace heldout {

namespace {

class StepWriter {
   public:
    StepWriter(std::vector<PrecisionStep>& steps, std::uint32_t zero) : steps_(steps), zero_(zero) {}

    void negative(std::uint32_t row) {
        if (n_positive_ > 0 || n_negative_ == 4) open();
        steps_.back().negative[n_negative_++] = row;
    }
    void positive(std::uint32_t row) {
        if (n_positive_ == 4) open();
        steps_.back().positive[n_positive_++] = row;
    }
    void threshold() {
        steps_.back().threshold = true;
        open();
    }
    void open() {
        steps_.push_back({{zero_, zero_, zero_, zero_}, {zero_, zero_, zero_, zero_}, false});
        n_negative_ = n_positive_ = 0;
    }

   private:
    std::vector<PrecisionStep>& steps_;
    std::uint32_t zero_;
    int n_negative_ = 0, n_positive_ = 0;
};

}  // namespace

PrecisionSums::PrecisionSums(const Matrix& scores, const bool* positive) : n_(scores.rows) {
    std::vector<std::uint32_t> rows(n_);
    for (std::uint32_t i = 0; i < n_; ++i) rows[i] = i;
    ColumnOrder order(scores, std::move(rows));
    StepWriter write(steps_, static_cast<std::uint32_t>(n_));
    starts_.push_back(0);
    for (std::size_t j = 0; j < scores.columns; ++j) {
        const std::vector<Ranked>& ranked = order.ascending(j);
        write.open();
        for (std::size_t last = n_, first; last > 0; last = first) {
            bool any_positive = false;
            for (first = last; first > 0 && ranked[first - 1].key == ranked[last - 1].key; --first) {
                any_positive |= positive[ranked[first - 1].row];
            }
            for (std::size_t k = first; k < last; ++k) {
                if (!positive[ranked[k].row]) write.negative(ranked[k].row);
            }
            for (std::size_t k = first; k < last && any_positive; ++k) {
                if (positive[ranked[k].row]) write.positive(ranked[k].row);
            }
            if (any_positive) write.threshold();
        }
        starts_.push_back(steps_.size());
    }
}

namespace {

// Doubles are added row after row; counts are first added as bytes (see `narrow_enough`).
template <class Lane, class Sum>
HELDOUT_INLINE void walk(const Lane* rows, std::size_t L, const PrecisionStep* step, const PrecisionStep* end,
                         Sum* HELDOUT_RESTRICT all, Sum* HELDOUT_RESTRICT positives,
                         Sum* HELDOUT_RESTRICT counted, double* HELDOUT_RESTRICT sum) {
    for (std::size_t l = 0; l < L; ++l) {
        all[l] = positives[l] = counted[l] = Sum(0);
        sum[l] = 0.0;
    }
    for (; step != end; ++step) {
        const Lane* n[4];
        const Lane* p[4];
        for (int k = 0; k < 4; ++k) {
            n[k] = rows + step->negative[k] * L;
            p[k] = rows + step->positive[k] * L;
        }
        for (std::size_t l = 0; l < L; ++l) {
            if constexpr (std::numeric_limits<Lane>::is_integer) {
                const Lane negative = static_cast<Lane>(n[0][l] + n[1][l] + n[2][l] + n[3][l]);
                const Lane positive = static_cast<Lane>(p[0][l] + p[1][l] + p[2][l] + p[3][l]);
                all[l] += static_cast<Sum>(negative) + static_cast<Sum>(positive);
                positives[l] += static_cast<Sum>(positive);
            } else {
                all[l] = all[l] + n[0][l] + n[1][l] + n[2][l] + n[3][l] + p[0][l] + p[1][l] + p[2][l] + p[3][l];
                positives[l] = positives[l] + p[0][l] + p[1][l] + p[2][l] + p[3][l];
            }
        }
        if (!step->threshold) continue;
        for (std::size_t l = 0; l < L; ++l) {
            const double entered = static_cast<double>(all[l]);
            const double precision = static_cast<double>(positives[l]) / (entered > 0.0 ? entered : 1.0);
            sum[l] = sum[l] + static_cast<double>(positives[l] - counted[l]) * precision;
            counted[l] = positives[l];
        }
    }
    for (std::size_t l = 0; l < L; ++l) sum[l] = sum[l] / static_cast<double>(positives[l]);
}

template <class Lane, class Sum>
HELDOUT_INLINE void walk(const Lane* rows, const PrecisionStep* begin, const PrecisionStep* end, double* averages) {
    constexpr std::size_t L = kLanes<Lane>;
    alignas(64) Sum all[L], positives[L], counted[L];
    walk<Lane, Sum>(rows, L, begin, end, all, positives, counted, averages);
}

bool narrow_enough(const Extent& extent) {
    return extent.largest <= 63 && extent.total < (std::uint64_t(1) << 31);  // four counts in a byte
}

}  // namespace

HELDOUT_CLONES void precision_narrow(const std::uint8_t* rows, const PrecisionStep* begin,
                                     const PrecisionStep* end, double* averages) {
    walk<std::uint8_t, std::int32_t>(rows, begin, end, averages);
}

HELDOUT_CLONES void precision_words(const std::uint16_t* rows, const PrecisionStep* begin,
                                    const PrecisionStep* end, double* averages) {
    walk<std::uint16_t, std::int64_t>(rows, begin, end, averages);
}

HELDOUT_CLONES void precision_doubles(const double* rows, const PrecisionStep* begin, const PrecisionStep* end,
                                      double* averages) {
    walk<double, double>(rows, begin, end, averages);
}

template <class Lane, class In, class Walk>
void PrecisionSums::all_of(const Weightings<In>& weightings, double* averages, Walk walk) const {
    LaneBlock<Lane> block(n_, false);
    Aligned<double> lanes(kLanes<Lane>);
    each_block<Lane>(weightings.lanes, [&](std::size_t first, std::size_t n_lanes) {
        block.load(weightings, first, n_lanes);
        for (std::size_t j = 0; j < columns(); ++j) {
            walk(block.rows(), steps_.data() + starts_[j], steps_.data() + starts_[j + 1], lanes.get());
            for (std::size_t l = 0; l < n_lanes; ++l) averages[(first + l) * columns() + j] = lanes[l];
        }
    });
}

template <>
void PrecisionSums::all(const Weightings<std::uint8_t>& counts, double* averages) const {
    if (narrow_enough(extent_of(counts))) {
        all_of<std::uint8_t>(counts, averages, precision_narrow);
    } else {
        all_of<std::uint16_t>(counts, averages, precision_words);
    }
}

template <>
void PrecisionSums::all(const Weightings<double>& weights, double* averages) const {
    all_of<double>(weights, averages, precision_doubles);
}

template <class T>
void PrecisionSums::selected(const Weightings<T>& weightings, const std::int64_t* columns, double* averages) const {
    std::vector<double> lane(n_ + 1);  // counts are exact in doubles
    for (std::size_t l = 0; l < weightings.lanes; ++l) {
        std::copy(weightings.lane(l), weightings.lane(l) + n_, lane.begin());
        const auto j = static_cast<std::size_t>(columns[l]);
        double all, positives, counted;
        walk<double, double>(lane.data(), 1, steps_.data() + starts_[j], steps_.data() + starts_[j + 1], &all,
                             &positives, &counted, averages + l);
    }
}

template void PrecisionSums::selected(const Weightings<std::uint8_t>&, const std::int64_t*, double*) const;
template void PrecisionSums::selected(const Weightings<double>&, const std::int64_t*, double*) const;

}  // namespace heldout
