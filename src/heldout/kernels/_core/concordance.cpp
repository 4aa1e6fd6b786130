// Divide and conquer over time: the pairs of an event in the earlier half and a row in the later half are those
// of a Mann-Whitney U, which is a walk up the risks; the pairs within each half are halved again. O(n log n)
// row additions a column.
#include "concordance.hpp"

#include <algorithm>

namespace heldout {

namespace {

// So few rows take fewer steps pair by pair than halved three times.
constexpr std::size_t kFewRows = 8;

bool is_event(std::uint32_t place) { return place & 1u; }

}  // namespace

ConcordanceSums::ConcordanceSums(const Matrix& risks, const std::uint32_t* places, const double* factors,
                                 std::size_t most_steps)
    : RankPrograms(risks.rows, true, factors), places_(places, places + risks.rows) {
    std::vector<std::uint32_t> rows;
    std::uint32_t last = 0;
    for (std::uint32_t i = 0; i < risks.rows; ++i) {
        if (places_[i] > 0) rows.push_back(i);  // censored before the first event: in no pair
        last = std::max(last, places_[i]);
    }
    rows_before_.assign(std::size_t(last) + 2, 0);
    for (const std::uint32_t row : rows) ++rows_before_[std::size_t(places_[row]) + 1];
    events_before_.assign(rows_before_.size(), 0);
    for (std::size_t p = 1; p < rows_before_.size(); ++p) {
        const bool of_events = is_event(static_cast<std::uint32_t>(p - 1));
        events_before_[p] = events_before_[p - 1] + (of_events ? rows_before_[p] : 0);
        rows_before_[p] += rows_before_[p - 1];
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
    descend(entries.data(), spare.data(), n_ranked, 0, static_cast<std::uint32_t>(rows_before_.size() - 1), write);
}

// The place that divides the rows of places low .. high - 1 most evenly, from low + 1 to high - 1.
std::uint32_t ConcordanceSums::middle_of(std::uint32_t low, std::uint32_t high) const {
    const std::size_t half = (rows_before_[low] + rows_before_[high]) / 2;
    const auto begin = rows_before_.begin();
    auto found = std::lower_bound(begin + low + 1, begin + high - 1, half);
    if (found > begin + low + 1 && *found > half && half - found[-1] < *found - half) --found;
    return static_cast<std::uint32_t>(found - begin);
}

void ConcordanceSums::descend(Entry* entries, Entry* spare, std::size_t n, std::uint32_t low, std::uint32_t high,
                              StepWriter& write) const {
    if (n < 2 || high - low < 2 || events_before_[high] == events_before_[low]) return;
    if (n <= kFewRows) return pair_by_pair(entries, n, write);
    const std::uint32_t middle = middle_of(low, high);
    across(entries, n, middle, events_before_[middle] - events_before_[low], write);
    const std::size_t n_earlier = rows_before_[middle] - rows_before_[low];
    std::size_t to[2] = {0, n_earlier};
    for (std::size_t k = 0; k < n; ++k) spare[to[entries[k].place >= middle]++] = entries[k];
    descend(spare, entries, n_earlier, low, middle, write);
    descend(spare + n_earlier, entries + n_earlier, n - n_earlier, middle, high, write);
}

// The pairs on both sides of `middle`, up the risks until the last of the earlier events has been met.
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
            if (earlier_event(entries[k])) write.met(event_slot(entries[k].row));
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
        write.met(event_slot(event.row));
    }
}

}  // namespace heldout
