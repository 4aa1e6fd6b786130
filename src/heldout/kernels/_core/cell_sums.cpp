// Models that are tried on one task agree on most rows. So each row's usual cell (its commonest over the columns) is
// summed once for all columns, and a column lists only the rows on which it differs: they are subtracted from the
// usual cell and added to their own. Counts are integers, so this is exact. For errors, the rows listed over all
// columns are never more than the errors, nor more than the hits. For confusion matrices, in which every row is in
// some cell, few rows are listed instead of all.
#include "cell_sums.hpp"

#include <stdexcept>
#include <string>

namespace heldout {

// How many of a row's columns have the cell.
HELDOUT_CLONES std::uint32_t count_cell(const std::int32_t* row, std::size_t n_columns, std::int32_t cell) {
    std::uint32_t count = 0;
    for (std::size_t j = 0; j < n_columns; ++j) count += row[j] == cell;
    return count;
}

namespace {

// Whether every cell of the row exists; `usual` becomes its commonest cell, the least of equals.
bool find_usual(const std::int32_t* row, std::size_t n_columns, std::size_t n_cells,
                std::vector<std::uint32_t>& tally, std::int32_t* usual) {
    if (n_cells <= 16) {  // comparing all columns at once is faster than counting one after another
        std::size_t counted = 0;
        for (std::size_t cell = 0; cell <= n_cells; ++cell) {
            tally[cell] = count_cell(row, n_columns, static_cast<std::int32_t>(cell) - 1);
            counted += tally[cell];
        }
        if (counted != n_columns) return false;
    } else {
        std::fill(tally.begin(), tally.end(), 0u);
        for (std::size_t j = 0; j < n_columns; ++j) {
            if (row[j] < -1 || row[j] >= static_cast<std::int64_t>(n_cells)) return false;
            ++tally[static_cast<std::size_t>(row[j] + 1)];
        }
    }
    *usual = static_cast<std::int32_t>(std::max_element(tally.begin(), tally.end()) - tally.begin()) - 1;
    return true;
}

// The columns whose cell is not the usual one, without a branch, because no branch predictor knows whether a model
// errs on a row.
std::size_t find_unusual(const std::int32_t* row, std::size_t n_columns, std::int32_t usual, std::uint32_t* columns) {
    std::size_t found = 0;
    for (std::size_t j = 0; j < n_columns; ++j) {
        columns[found] = static_cast<std::uint32_t>(j);
        found += row[j] != usual;
    }
    return found;
}

}  // namespace

CellSums::CellSums(const std::int32_t* cells, std::size_t n_rows, std::size_t n_columns, std::size_t n_cells)
    : n_(n_rows), n_cells_(n_cells) {
    const auto refuse = [n_cells] {
        throw std::invalid_argument("a cell must be from -1 to n_cells - 1 = " +
                                    std::to_string(static_cast<std::int64_t>(n_cells) - 1) +
                                    ", and n_cells at least 1");
    };
    if (n_cells < 1) refuse();
    std::vector<std::int32_t> usual_cells(n_);
    std::vector<std::uint32_t> tally(n_cells + 1), unusual;
    std::vector<std::size_t> unusual_starts{0};
    for (std::size_t i = 0; i < n_; ++i) {
        const std::int32_t* row = cells + i * n_columns;
        if (!find_usual(row, n_columns, n_cells, tally, &usual_cells[i])) refuse();
        const std::size_t before = unusual_starts.back();
        if (unusual.size() < before + n_columns) unusual.resize(2 * before + 8 * n_columns);
        unusual_starts.push_back(before + find_unusual(row, n_columns, usual_cells[i], unusual.data() + before));
    }

    // The list of rows that column j subtracts from cell k is number 2 (j n_cells + k), and the next one is the list
    // of rows that it adds; the lists of the usual cells are at the end.
    const std::size_t first_usual = 2 * n_columns * n_cells, n_lists = first_usual + n_cells;
    const auto each_entry = [&](auto visit) {
        for (std::size_t i = 0; i < n_; ++i) {
            const std::int32_t* row = cells + i * n_columns;
            const auto usual = static_cast<std::size_t>(usual_cells[i]);
            if (usual_cells[i] >= 0) visit(first_usual + usual, i);
            for (std::size_t k = unusual_starts[i]; k < unusual_starts[i + 1]; ++k) {
                const std::size_t j = unusual[k];
                if (usual_cells[i] >= 0) visit(2 * (j * n_cells + usual), i);
                if (row[j] >= 0) visit(2 * (j * n_cells + static_cast<std::size_t>(row[j])) + 1, i);
            }
        }
    };
    std::vector<std::size_t> next(n_lists);
    each_entry([&](std::size_t list, std::size_t) { ++next[list]; });
    std::size_t begin = 0;
    for (std::size_t list = 0; list < n_lists; ++list) {
        if (list < first_usual && list % (2 * n_cells) == 0) starts_.push_back(lists_.size());
        const std::size_t end = begin + (next[list] + 3) / 4 * 4;
        const bool usual = list >= first_usual;
        const auto cell = static_cast<std::uint32_t>(usual ? list - first_usual : list / 2 % n_cells);
        if (end > begin) (usual ? usual_lists_ : lists_).push_back({cell, usual || list % 2 == 1, begin, end});
        next[list] = begin;
        begin = end;
    }
    starts_.push_back(lists_.size());
    listed_.assign(begin, static_cast<std::uint32_t>(n_));  // padded with the zero row
    each_entry([&](std::size_t list, std::size_t i) { listed_[next[list]++] = static_cast<std::uint32_t>(i); });
}

namespace {

template <class Sum>
HELDOUT_INLINE void add(const std::uint8_t* rows, const std::uint32_t* listed, const Listed* list,
                        const Listed* last, std::size_t together, std::size_t n_wanted, Sum* sums) {
    constexpr std::size_t L = kLanes<std::uint8_t>;
    for (; list != last; ++list) {
        if (list->cell >= n_wanted) continue;
        const std::uint32_t *row = listed + list->begin, *end = listed + list->end;
        alignas(64) Sum sum[L] = {};
        while (together < 4 && row != end) {
            const std::uint8_t* r = rows + *row++ * L;
            for (std::size_t l = 0; l < L; ++l) sum[l] = static_cast<Sum>(sum[l] + r[l]);
        }
        while (row != end) {
            const std::uint32_t* stop = row + std::min(together / 4 * 4, static_cast<std::size_t>(end - row));
            alignas(64) std::uint8_t bytes[L] = {};
            for (; row != stop; row += 4) {
                const std::uint8_t* r0 = rows + row[0] * L;
                const std::uint8_t* r1 = rows + row[1] * L;
                const std::uint8_t* r2 = rows + row[2] * L;
                const std::uint8_t* r3 = rows + row[3] * L;
                for (std::size_t l = 0; l < L; ++l) {
                    bytes[l] = static_cast<std::uint8_t>(bytes[l] + r0[l] + r1[l] + r2[l] + r3[l]);
                }
            }
            for (std::size_t l = 0; l < L; ++l) sum[l] = static_cast<Sum>(sum[l] + bytes[l]);
        }
        Sum* to = sums + list->cell * L;
        if (list->added) {
            for (std::size_t l = 0; l < L; ++l) to[l] = static_cast<Sum>(to[l] + sum[l]);
        } else {
            for (std::size_t l = 0; l < L; ++l) to[l] = static_cast<Sum>(to[l] - sum[l]);
        }
    }
}

}  // namespace

HELDOUT_CLONES void add_lists(const std::uint8_t* rows, const std::uint32_t* listed, const Listed* first,
                              const Listed* last, std::size_t together, std::size_t n_wanted, std::uint16_t* sums) {
    add(rows, listed, first, last, together, n_wanted, sums);
}

HELDOUT_CLONES void add_lists_wide(const std::uint8_t* rows, const std::uint32_t* listed, const Listed* first,
                                   const Listed* last, std::size_t together, std::size_t n_wanted,
                                   std::uint64_t* sums) {
    add(rows, listed, first, last, together, n_wanted, sums);
}

void CellSums::all(const Weightings<std::uint8_t>& counts, std::int64_t* sums) const {
    constexpr std::size_t L = kLanes<std::uint8_t>;
    each_column(counts, n_cells_,
                [&](std::size_t first, std::size_t n_lanes, std::size_t j, const auto* cell_sums) {
                    for (std::size_t l = 0; l < n_lanes; ++l) {
                        std::int64_t* to = sums + ((first + l) * columns() + j) * n_cells_;
                        for (std::size_t cell = 0; cell < n_cells_; ++cell) {
                            to[cell] = static_cast<std::int64_t>(cell_sums[cell * L + l]);
                        }
                    }
                });
}

void CellSums::selected(const Weightings<std::uint8_t>& counts, const std::int64_t* columns,
                        std::int64_t* sums) const {
    std::vector<std::uint8_t> lane(n_ + 1);  // the row after the last is zero, for padding
    for (std::size_t l = 0; l < counts.lanes; ++l) {
        std::copy(counts.lane(l), counts.lane(l) + n_, lane.begin());
        std::int64_t* to = sums + l * n_cells_;
        std::fill(to, to + n_cells_, 0);
        const auto add = [&](const Listed& list) {
            std::int64_t sum = 0;
            for (std::size_t at = list.begin; at < list.end; ++at) sum += lane[listed_[at]];
            to[list.cell] += list.added ? sum : -sum;
        };
        for (const Listed& list : usual_lists_) add(list);
        const auto j = static_cast<std::size_t>(columns[l]);
        for (std::size_t k = starts_[j]; k < starts_[j + 1]; ++k) add(lists_[k]);
    }
}

// Adds row after row to the cell of a column, all lanes at once. Cell n_cells is for rows that are not counted.
HELDOUT_CLONES void add_rows_to_cells(const double* rows, const std::uint32_t* cell_of_row, std::size_t n_rows,
                                      double* sums) {
    constexpr std::size_t L = kLanes<double>;
    for (std::size_t i = 0; i < n_rows; ++i) {
        const double* HELDOUT_RESTRICT row = rows + i * L;
        double* HELDOUT_RESTRICT sum = sums + cell_of_row[i] * L;
        for (std::size_t l = 0; l < L; ++l) sum[l] = sum[l] + row[l];
    }
}

void weighted_cell_sums(const std::int32_t* cells, std::size_t n_columns, std::size_t n_cells,
                        const Weightings<double>& weights, double* sums) {
    constexpr std::size_t L = kLanes<double>;
    const std::size_t n = weights.rows;
    std::vector<std::uint32_t> by_column(n * n_columns);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n_columns; ++j) {
            const std::int32_t cell = cells[i * n_columns + j];
            by_column[j * n + i] = cell < 0 ? static_cast<std::uint32_t>(n_cells) : static_cast<std::uint32_t>(cell);
        }
    }
    LaneBlock<double> block(n, false);
    Aligned<double> cell_sums((n_cells + 1) * L);
    each_block<double>(weights.lanes, [&](std::size_t first, std::size_t n_lanes) {
        block.load(weights, first, n_lanes);
        for (std::size_t j = 0; j < n_columns; ++j) {
            std::fill(cell_sums.get(), cell_sums.get() + (n_cells + 1) * L, 0.0);
            add_rows_to_cells(block.rows(), by_column.data() + j * n, n, cell_sums.get());
            for (std::size_t l = 0; l < n_lanes; ++l) {
                double* to = sums + ((first + l) * n_columns + j) * n_cells;
                for (std::size_t cell = 0; cell < n_cells; ++cell) to[cell] = cell_sums[cell * L + l];
            }
        }
    });
}

}  // namespace heldout
