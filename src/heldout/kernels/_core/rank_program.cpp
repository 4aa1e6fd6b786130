#include "rank_program.hpp"

#include <algorithm>

namespace heldout {

void RankPrograms::prepare(const Matrix& scores, std::vector<std::uint32_t> rows, std::size_t most_steps) {
    columns_ = scores.columns;
    n_ranked_ = rows.size();
    ColumnOrder order(scores, std::move(rows));
    StepWriter write(steps_, zero_slot());
    starts_.push_back(0);
    ranked_.resize(columns_ * n_ranked_);
    for (std::size_t j = 0; j < columns_; ++j) {
        const std::vector<Ranked>& ranked = order.ascending(j);
        std::uint32_t* packed = ranked_.data() + j * n_ranked_;
        for (std::size_t k = 0; k < n_ranked_; ++k) {
            const bool tied = k > 0 && ranked[k].key == ranked[k - 1].key;
            packed[k] = ranked[k].row | (tied ? kTied : 0);
        }
        if (!kept_) continue;
        write.begin();
        compile(packed, n_ranked_, write);
        starts_.push_back(steps_.size());
        kept_ = steps_.size() <= most_steps;
    }
    if (kept_) {
        ranked_ = {};
    } else {
        steps_ = {};
        starts_ = {};
    }
}

Program RankPrograms::program(std::size_t column, std::vector<RankStep>& scratch) const {
    if (kept_) return {steps_.data() + starts_[column], steps_.data() + starts_[column + 1], resets_};
    scratch.clear();
    StepWriter write(scratch, zero_slot());
    compile(ranked_.data() + column * n_ranked_, n_ranked_, write);
    return {scratch.data(), scratch.data() + scratch.size(), resets_};
}

namespace {

template <bool kResets, class T, class Passed, class Sum>
HELDOUT_INLINE void walk(const T* rows, const RankStep* step, const RankStep* end, std::int64_t* sums) {
    constexpr std::size_t L = kLanes<T>;
    alignas(64) Passed passed[L] = {};
    alignas(64) Sum sum[L] = {};
    for (; step != end; ++step) {
        // All bits or none. A branch would cost more, and even this costs a tenth of a pass that has no resets.
        const auto keep = static_cast<Passed>(static_cast<Passed>(step->below[0] >> 31) - 1u);
        const T* b0 = rows + (kResets ? step->below[0] & ~kReset : step->below[0]) * L;
        const T* b1 = rows + step->below[1] * L;
        const T* b2 = rows + step->below[2] * L;
        const T* b3 = rows + step->below[3] * L;
        const T* m0 = rows + step->above[0] * L;
        const T* m1 = rows + step->above[1] * L;
        const T* m2 = rows + step->above[2] * L;
        const T* m3 = rows + step->above[3] * L;
        for (std::size_t l = 0; l < L; ++l) {
            const T below = static_cast<T>(b0[l] + b1[l] + b2[l] + b3[l]);
            const T above = static_cast<T>(m0[l] + m1[l] + m2[l] + m3[l]);
            const Passed now = static_cast<Passed>((kResets ? passed[l] & keep : passed[l]) + below);
            passed[l] = now;
            sum[l] += static_cast<Sum>(now) * static_cast<Sum>(above);
        }
    }
    for (std::size_t l = 0; l < L; ++l) sums[l] = static_cast<std::int64_t>(sum[l]);
}

template <class T, class Passed, class Sum>
HELDOUT_INLINE void walk(const T* rows, const Program& program, std::int64_t* sums) {
    if (program.resets) {
        walk<true, T, Passed, Sum>(rows, program.begin, program.end, sums);
    } else {
        walk<false, T, Passed, Sum>(rows, program.begin, program.end, sums);
    }
}

}  // namespace

HELDOUT_CLONES void walk_narrow(const std::uint8_t* rows, const Program& program, std::int64_t* sums) {
    walk<std::uint8_t, std::uint16_t, std::uint32_t>(rows, program, sums);
}

HELDOUT_CLONES void walk_wide(const std::uint8_t* rows, const Program& program, std::int64_t* sums) {
    walk<std::uint8_t, std::uint32_t, std::uint64_t>(rows, program, sums);
}

HELDOUT_CLONES void walk_words(const std::uint16_t* rows, const Program& program, std::int64_t* sums) {
    walk<std::uint16_t, std::uint32_t, std::uint64_t>(rows, program, sums);
}

HELDOUT_CLONES void walk_doubles(const double* rows, const Program& program, double* sums) {
    constexpr std::size_t L = kLanes<double>;
    alignas(64) double passed[L] = {};
    alignas(64) double sum[L] = {};
    for (const RankStep* step = program.begin; step != program.end; ++step) {
        const double keep = step->below[0] & kReset ? 0.0 : 1.0;
        const double* b[4];
        const double* m[4];
        for (int k = 0; k < 4; ++k) {
            b[k] = rows + (step->below[k] & ~kReset) * L;
            m[k] = rows + step->above[k] * L;
        }
        for (std::size_t l = 0; l < L; ++l) {  // one row after another: the order is part of the result
            const double now = keep * passed[l] + b[0][l] + b[1][l] + b[2][l] + b[3][l];
            passed[l] = now;
            sum[l] = sum[l] + m[0][l] * now + m[1][l] * now + m[2][l] * now + m[3][l] * now;
        }
    }
    for (std::size_t l = 0; l < L; ++l) sums[l] = sum[l];
}

namespace {

// One weighting with the slots of a LaneBlock. A doubled count fits in 16 bits.
template <class In, class T>
void load_lane(const In* weights, std::size_t n, const std::vector<double>& factors, T* slots) {
    slots[n] = T(0);
    for (std::size_t i = 0; i < n; ++i) {
        slots[i] = static_cast<T>(weights[i]);
        slots[n + 1 + i] = static_cast<T>(slots[i] + slots[i]);
    }
    for (std::size_t i = 0; i < factors.size(); ++i) slots[2 * n + 1 + i] = static_cast<T>(slots[i] * factors[i]);
}

// Lanes in the order of their columns, so that a program that is not kept is compiled once per column.
std::vector<std::size_t> lanes_by_column(const std::int64_t* columns, std::size_t lanes) {
    std::vector<std::size_t> order(lanes);
    for (std::size_t l = 0; l < lanes; ++l) order[l] = l;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return columns[a] < columns[b]; });
    return order;
}

std::int64_t sum_of_lane(const std::uint16_t* w, const Program& program) {
    std::int64_t passed = 0, sum = 0;
    for (const RankStep* step = program.begin; step != program.end; ++step) {
        const std::uint32_t *b = step->below, *m = step->above;
        passed = (b[0] & kReset ? 0 : passed) + w[b[0] & ~kReset] + w[b[1]] + w[b[2]] + w[b[3]];
        sum += passed * (w[m[0]] + w[m[1]] + w[m[2]] + w[m[3]]);
    }
    return sum;
}

}  // namespace

void RankPrograms::all(const Weightings<std::uint8_t>& counts, std::int64_t* sums) const {
    if (counts.lanes == 1) {  // as where each row counts once: a block of lanes would be read for one of them
        std::vector<std::uint16_t> w(2 * n_ + 1);
        std::vector<RankStep> scratch;
        load_lane(counts.lane(0), n_, {}, w.data());
        for (std::size_t j = 0; j < columns_; ++j) sums[j] = sum_of_lane(w.data(), program(j, scratch));
        return;
    }
    each_column(counts, [&](std::size_t first, std::size_t n_lanes, std::size_t j, const std::int64_t* lane_sums) {
        for (std::size_t l = 0; l < n_lanes; ++l) sums[(first + l) * columns_ + j] = lane_sums[l];
    });
}

void RankPrograms::all(const Weightings<double>& weights, double* sums) const {
    const auto store = [&](std::size_t first, std::size_t n_lanes, std::size_t j, const double* lane_sums) {
        for (std::size_t l = 0; l < n_lanes; ++l) sums[(first + l) * columns_ + j] = lane_sums[l];
    };
    each_column_of<double, double, double>(weights, store, walk_doubles);
}

void RankPrograms::selected(const Weightings<std::uint8_t>& counts, const std::int64_t* columns,
                            std::int64_t* sums) const {
    std::vector<std::uint16_t> w(2 * n_ + 1);
    std::vector<RankStep> scratch;
    Program own{};
    std::int64_t column = -1;
    for (const std::size_t l : lanes_by_column(columns, counts.lanes)) {
        load_lane(counts.lane(l), n_, {}, w.data());
        if (columns[l] != column) own = program(static_cast<std::size_t>(column = columns[l]), scratch);
        sums[l] = sum_of_lane(w.data(), own);
    }
}

void RankPrograms::selected(const Weightings<double>& weights, const std::int64_t* columns, double* sums) const {
    std::vector<double> w(2 * n_ + 1 + factors_.size());
    std::vector<RankStep> scratch;
    Program own{};
    std::int64_t column = -1;
    for (const std::size_t l : lanes_by_column(columns, weights.lanes)) {
        load_lane(weights.lane(l), n_, factors_, w.data());
        if (columns[l] != column) own = program(static_cast<std::size_t>(column = columns[l]), scratch);
        double passed = 0.0, sum = 0.0;
        for (const RankStep* step = own.begin; step != own.end; ++step) {  // in the order of a pass
            if (step->below[0] & kReset) passed = 0.0;
            for (const std::uint32_t slot : step->below) passed = passed + w[slot & ~kReset];
            for (const std::uint32_t slot : step->above) sum = sum + w[slot] * passed;
        }
        sums[l] = sum;
    }
}

}  // namespace heldout
