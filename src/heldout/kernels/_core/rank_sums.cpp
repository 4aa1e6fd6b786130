// Each column is sorted once and its order compiled into a short program of row additions; a bootstrap then
// costs one pass over that program, with no comparison of scores and no branch that depends on the data.
#include "rank_sums.hpp"

#include "column_order.hpp"

namespace heldout {

namespace {

// Appends rows to the last step while it has room for them in the right order.
class StepWriter {
   public:
    StepWriter(std::vector<RankStep>& steps, std::uint32_t zero) : steps_(steps), zero_(zero) {}

    void below(std::uint32_t slot) {
        if (n_met_ > 0 || n_below_ == 4) open();
        steps_.back().below[n_below_++] = slot;
    }
    void met(std::uint32_t slot) {
        if (n_met_ == 4) open();
        steps_.back().met[n_met_++] = slot;
    }
    void open() {
        steps_.push_back({{zero_, zero_, zero_, zero_}, {zero_, zero_, zero_, zero_}});
        n_below_ = n_met_ = 0;
    }

   private:
    std::vector<RankStep>& steps_;
    std::uint32_t zero_;
    int n_below_ = 0, n_met_ = 0;
};

}  // namespace

RankSums::RankSums(const Matrix& scores, const bool* positive, const bool* negative) : n_(scores.rows) {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t i = 0; i < n_; ++i) {
        if (positive[i] != negative[i]) rows.push_back(i);
    }
    ColumnOrder order(scores, std::move(rows));
    const auto zero = static_cast<std::uint32_t>(n_), doubled = zero + 1;
    StepWriter write(steps_, zero);
    starts_.push_back(0);
    for (std::size_t j = 0; j < scores.columns; ++j) {
        const std::vector<Ranked>& ranked = order.ascending(j);
        write.open();
        for (std::size_t first = 0, last; first < ranked.size(); first = last) {
            bool any_positive = false, any_negative = false;
            for (last = first; last < ranked.size() && ranked[last].key == ranked[first].key; ++last) {
                any_positive |= positive[ranked[last].row];
                any_negative |= negative[ranked[last].row];
            }
            const bool mixed = any_positive && any_negative;
            for (std::size_t k = first; k < last && any_negative; ++k) {
                const std::uint32_t row = ranked[k].row;
                if (negative[row]) write.below(mixed ? row : doubled + row);
            }
            for (std::size_t k = first; k < last && any_positive; ++k) {
                if (positive[ranked[k].row]) write.met(ranked[k].row);
            }
            for (std::size_t k = first; k < last && mixed; ++k) {
                if (negative[ranked[k].row]) write.below(ranked[k].row);
            }
        }
        starts_.push_back(steps_.size());
    }
}

namespace {

template <class T, class Passed, class Sum>
HELDOUT_INLINE void walk(const T* rows, const RankStep* step, const RankStep* end, std::int64_t* sums) {
    constexpr std::size_t L = kLanes<T>;
    alignas(64) Passed passed[L] = {};
    alignas(64) Sum sum[L] = {};
    for (; step != end; ++step) {
        const T* b0 = rows + step->below[0] * L;
        const T* b1 = rows + step->below[1] * L;
        const T* b2 = rows + step->below[2] * L;
        const T* b3 = rows + step->below[3] * L;
        const T* m0 = rows + step->met[0] * L;
        const T* m1 = rows + step->met[1] * L;
        const T* m2 = rows + step->met[2] * L;
        const T* m3 = rows + step->met[3] * L;
        for (std::size_t l = 0; l < L; ++l) {
            const T below = static_cast<T>(b0[l] + b1[l] + b2[l] + b3[l]);
            const T met = static_cast<T>(m0[l] + m1[l] + m2[l] + m3[l]);
            const Passed now = static_cast<Passed>(passed[l] + below);
            passed[l] = now;
            sum[l] += static_cast<Sum>(now) * static_cast<Sum>(met);
        }
    }
    for (std::size_t l = 0; l < L; ++l) sums[l] = static_cast<std::int64_t>(sum[l]);
}

}  // namespace

HELDOUT_CLONES void walk_narrow(const std::uint8_t* rows, const RankStep* begin, const RankStep* end,
                                std::int64_t* sums) {
    walk<std::uint8_t, std::uint16_t, std::uint32_t>(rows, begin, end, sums);
}

HELDOUT_CLONES void walk_wide(const std::uint8_t* rows, const RankStep* begin, const RankStep* end,
                              std::int64_t* sums) {
    walk<std::uint8_t, std::uint32_t, std::uint64_t>(rows, begin, end, sums);
}

HELDOUT_CLONES void walk_words(const std::uint16_t* rows, const RankStep* begin, const RankStep* end,
                               std::int64_t* sums) {
    walk<std::uint16_t, std::uint32_t, std::uint64_t>(rows, begin, end, sums);
}

HELDOUT_CLONES void walk_doubles(const double* rows, const RankStep* step, const RankStep* end, double* sums) {
    constexpr std::size_t L = kLanes<double>;
    alignas(64) double passed[L] = {};
    alignas(64) double sum[L] = {};
    for (; step != end; ++step) {
        const double* b[4];
        const double* m[4];
        for (int k = 0; k < 4; ++k) {
            b[k] = rows + step->below[k] * L;
            m[k] = rows + step->met[k] * L;
        }
        for (std::size_t l = 0; l < L; ++l) {  // one row after another: the order is part of the result
            const double now = passed[l] + b[0][l] + b[1][l] + b[2][l] + b[3][l];
            passed[l] = now;
            sum[l] = sum[l] + m[0][l] * now + m[1][l] * now + m[2][l] * now + m[3][l] * now;
        }
    }
    for (std::size_t l = 0; l < L; ++l) sums[l] = sum[l];
}

void RankSums::all(const Weightings<std::uint8_t>& counts, std::int64_t* sums) const {
    each_column(counts, [&](std::size_t first, std::size_t n_lanes, std::size_t j, const std::int64_t* lane_sums) {
        for (std::size_t l = 0; l < n_lanes; ++l) sums[(first + l) * columns() + j] = lane_sums[l];
    });
}

void RankSums::all(const Weightings<double>& weights, double* sums) const {
    LaneBlock<double> block(n_, true);
    Aligned<double> lane_sums(kLanes<double>);
    each_block<double>(weights.lanes, [&](std::size_t first, std::size_t n_lanes) {
        block.load(weights, first, n_lanes);
        for (std::size_t j = 0; j < columns(); ++j) {
            walk_doubles(block.rows(), steps(j).begin, steps(j).end, lane_sums.get());
            for (std::size_t l = 0; l < n_lanes; ++l) sums[(first + l) * columns() + j] = lane_sums[l];
        }
    });
}

namespace {

// One weighting with the slots of a LaneBlock. Twice a count fits in 16 bits.
template <class In, class T>
void load_lane(const In* weights, std::size_t n, T* slots) {
    slots[n] = T(0);
    for (std::size_t i = 0; i < n; ++i) {
        slots[i] = static_cast<T>(weights[i]);
        slots[n + 1 + i] = static_cast<T>(slots[i] + slots[i]);
    }
}

}  // namespace

void RankSums::selected(const Weightings<std::uint8_t>& counts, const std::int64_t* columns,
                        std::int64_t* sums) const {
    std::vector<std::uint16_t> w(2 * n_ + 1);
    for (std::size_t l = 0; l < counts.lanes; ++l) {
        load_lane(counts.lane(l), n_, w.data());
        const Steps program = steps(static_cast<std::size_t>(columns[l]));
        std::int64_t passed = 0, sum = 0;
        for (const RankStep* step = program.begin; step != program.end; ++step) {
            const std::uint32_t *b = step->below, *m = step->met;
            passed += w[b[0]] + w[b[1]] + w[b[2]] + w[b[3]];
            sum += passed * (w[m[0]] + w[m[1]] + w[m[2]] + w[m[3]]);
        }
        sums[l] = sum;
    }
}

void RankSums::selected(const Weightings<double>& weights, const std::int64_t* columns, double* sums) const {
    std::vector<double> w(2 * n_ + 1);
    for (std::size_t l = 0; l < weights.lanes; ++l) {
        load_lane(weights.lane(l), n_, w.data());
        const Steps program = steps(static_cast<std::size_t>(columns[l]));
        double passed = 0.0, sum = 0.0;
        for (const RankStep* step = program.begin; step != program.end; ++step) {  // in the order of a walk
            for (const std::uint32_t slot : step->below) passed = passed + w[slot];
            for (const std::uint32_t slot : step->met) sum = sum + w[slot] * passed;
        }
        sums[l] = sum;
    }
}

}  // namespace heldout
