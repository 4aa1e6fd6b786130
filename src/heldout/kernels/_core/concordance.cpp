// Divide and conquer over time: the pairs of an event in the earlier half and a row in the later half are a
// Mann-Whitney U, which takes one pass in ascending order of risk; each half is then halved again. O(n log n) row
// additions per column.
#include "concordance.hpp"

#include <algorithm>

namespace heldout {

namespace {

// For so few rows, pair by pair takes fewer steps than halving three times.
constexpr std::size_t kFewRows = 8;

bool is_event(std::uint32_t place) { return place & 1u; }

}  // namespace

ConcordanceSums::ConcordanceSums(const Matrix& risks, const std::uint32_t* places, const double* factors,
                                 const std::uint32_t* folds, std::size_t most_steps)
    : RankPrograms(risks.rows, true, factors), places_(places, places + risks.rows), folds_(folds, risks.rows) {
    std::vector<std::uint32_t> rows;
    std::vector<std::uint32_t> last(folds_.size(), 0);
    for (std::uint32_t i = 0; i < risks.rows; ++i) {
        if (places_[i] == 0) continue;  // censored before the first event: in no pair
        rows.push_back(i);
        last[folds_.of(i)] = std::max(last[folds_.of(i)], places_[i]);
    }
    for (const std::uint32_t end : last) {
        times_.push_back({std::vector<std::size_t>(std::size_t(end) + 2, 0), {}});
    }
    for (const std::uint32_t row : rows) ++times_[folds_.of(row)].rows_before[std::size_t(places_[row]) + 1];
    for (Times& times : times_) {
        times.events_before.assign(times.rows_before.size(), 0);
        for (std::size_t p = 1; p < times.rows_before.size(); ++p) {
            const bool of_events = is_event(static_cast<std::uint32_t>(p - 1));
            times.events_before[p] = times.events_before[p - 1] + (of_events ? times.rows_before[p] : 0);
            times.rows_before[p] += times.rows_before[p - 1];
        }
    }
    prepare(risks, std::move(rows), most_steps);
}

void ConcordanceSums::compile(const std::uint32_t* ranked, std::size_t n_ranked, StepWriter& write) const {
    std::vector<Entry> entries(n_ranked), spare(n_ranked);
    std::uint32_t rank = 0;
    for (std::size_t k = 0; k < n_ranked; ++k) {
        const std::uint32_t row = ranked[k] & ~kTied;
        rank += ranked[k] & kTied ? 0 : 1;
        entries[k] = {row, places_[row], rank};
    }
    folds_.each_fold(
        entries, [](const Entry& entry) { return entry.row; },
        [&](std::size_t fold, Entry* of_fold, std::size_t n) {
            const Times& times = times_[fold];
            descend(of_fold, spare.data(), n, 0, static_cast<std::uint32_t>(times.rows_before.size() - 1), times, write);
        });
}

// The place that divides the rows of places low .. high - 1 most evenly, from low + 1 to high - 1.
std::uint32_t ConcordanceSums::middle_of(std::uint32_t low, std::uint32_t high, const Times& times) {
    const std::size_t half = (times.rows_before[low] + times.rows_before[high]) / 2;
    const auto begin = times.rows_before.begin();
    auto found = std::lower_bound(begin + low + 1, begin + high - 1, half);
    if (found > begin + low + 1 && *found > half && half - found[-1] < *found - half) --found;
    return static_cast<std::uint32_t>(found - begin);
}

void ConcordanceSums::descend(Entry* entries, Entry* spare, std::size_t n, std::uint32_t low, std::uint32_t high,
                              const Times& times, StepWriter& write) const {
    if (n < 2 || high - low < 2 || times.events_before[high] == times.events_before[low]) return;
    if (n <= kFewRows) return pair_by_pair(entries, n, write);
    const std::uint32_t middle = middle_of(low, high, times);
    across(entries, n, middle, times.events_before[middle] - times.events_before[low], write);
    const std::size_t n_earlier = times.rows_before[middle] - times.rows_before[low];
    std::size_t to[2] = {0, n_earlier};
    for (std::size_t k = 0; k < n; ++k) spare[to[entries[k].place >= middle]++] = entries[k];
    descend(spare, entries, n_earlier, low, middle, times, write);
    descend(spare + n_earlier, entries + n_earlier, n - n_earlier, middle, high, times, write);
}

// The pairs on both sides of `middle`, in ascending order of risk, up to the last of the earlier events.
void ConcordanceSums::across(const Entry* entries, std::size_t n, std::uint32_t middle, std::size_t n_events,
                             StepWriter& write) const {
    const auto later = [&](const Entry& entry) { return entry.place >= middle; };
    const auto earlier_event = [&](const Entry& entry) { return entry.place < middle && is_event(entry.place); };
    write.reset();
    for (std::size_t first = 0, last; n_events > 0; first = last) {
        std::size_t n_met = 0, n_later = 0;
        for (last = first; last < n && entries[last].rank == entries[first].rank; ++last) {
            n_met += earlier_event(entries[last]);
            n_later += later(entries[last]);
        }
        const bool mixed = n_met > 0 && n_later > 0;
        for (std::size_t k = first; k < last && n_later > 0; ++k) {
            const std::uint32_t row = entries[k].row;
            if (later(entries[k])) write.below(mixed ? row : doubled_slot(row));
        }
        for (std::size_t k = first; k < last && n_met > 0; ++k) {
            if (earlier_event(entries[k])) write.above(event_slot(entries[k].row));
        }
        n_events -= n_met;
        for (std::size_t k = first; k < last && mixed && n_events > 0; ++k) {
            if (later(entries[k])) write.below(entries[k].row);
        }
    }
}

void ConcordanceSums::pair_by_pair(const Entry* entries, std::size_t n, StepWriter& write) const {
    for (std::size_t k = 0; k < n; ++k) {
        const Entry& event = entries[k];
        if (!is_event(event.place)) continue;
        write.reset();
        for (std::size_t other = 0; other < n && entries[other].rank <= event.rank; ++other) {
            if (entries[other].place <= event.place) continue;
            const std::uint32_t row = entries[other].row;
            write.below(entries[other].rank == event.rank ? row : doubled_slot(row));
        }
        write.above(event_slot(event.row));
    }
}

}  // namespace heldout
