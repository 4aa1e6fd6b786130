// Models that are tried on one task agree on most rows. So each row's usual cell (its commonest over the
// columns) is summed once for all columns, and a column lists only the rows on which it differs: taken from
// the usual cell, added to its own. Counts are integers, so taking away is exact. This costs at most half of
// the listing of every column's errors (or of the complement where they pass one half), and far less for
// confusion matrices, in which every row is in some cell.
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
    if (n_cells <= 16) {  // comparing all columns at once beats counting one after another
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

// A row on its way to a list.
struct Filed {
    std::uint32_t row;
    std::size_t list;
};

}  // namespace

CellSums::CellSums(const std::int32_t* cells, std::size_t n_rows, std::size_t n_columns, std::size_t n_cells)
    : n_(n_rows), n_cells_(n_cells), usual_(n_rows) {
    const auto refuse = [n_cells] {
        throw std::invalid_argument("a cell must be from -1 to n_cells - 1 = " + std::to_string(static_cast<std::int64_t>(n_cells) - 1) +
                                    ", and n_cells at least 1");
    };
    if (n_cells < 1) refuse();
    // Column j's list of rows taken from cell k is number 2 (j n_cells + k), that of rows added to it the
    // next; the lists of the usual cells stand at the end.
    const std::size_t first_usual = 2 * n_columns * n_cells, n_lists = first_usual + n_cells;
    std::vector<std::uint32_t> tally(n_cells + 1);
    std::vector<std::size_t> sizes(n_lists);
    std::vector<Filed> filed;
    std::size_t n_filed = 0;
    for (std::uint32_t i = 0; i < n_; ++i) {
        const std::int32_t* row = cells + i * n_columns;
        if (!find_usual(row, n_columns, n_cells, tally, &usual_[i])) refuse();
        filed.resize(std::max(filed.size(), (n_filed + 2 * n_columns + 1) * 3 / 2));
        // Written always and kept only where wanted: whether a model errs on a row no branch predicts.
        const auto file = [&](std::size_t list, bool wanted) {
            filed[n_filed] = {i, list};
            n_filed += wanted;
            sizes[list] += wanted;
        };
        const std::int32_t usual = usual_[i];
        const auto common = static_cast<std::size_t>(std::max(usual, 0));
        if (usual >= 0) {
            file(first_usual + common, true);
            for (std::size_t j = 0; j < n_columns; ++j) file(2 * (j * n_cells + common), row[j] != usual);
        }
        for (std::size_t j = 0; j < n_columns; ++j) {
            const auto cell = static_cast<std::size_t>(std::max(row[j], 0));
            file(2 * (j * n_cells + cell) + 1, row[j] != usual && row[j] >= 0);
        }
    }
    std::vector<std::size_t> next(n_lists);
    std::size_t begin = 0;
    for (std::size_t list = 0; list < n_lists; ++list) {
        if (list < first_usual && list % (2 * n_cells) == 0) starts_.push_back(lists_.size());
        next[list] = begin;
        const std::size_t end = begin + (sizes[list] + 3) / 4 * 4;
        const bool usual = list >= first_usual;
        const std::size_t cell = usual ? list - first_usual : list / 2 % n_cells;
        if (end > begin) {
            (usual ? usual_lists_ : lists_).push_back({static_cast<std::uint32_t>(cell), usual || list % 2 == 1, begin, end});
        }
        begin = end;
    }
    starts_.push_back(lists_.size());
    listed_.assign(begin, static_cast<std::uint32_t>(n_));  // the zero row pads
    for (std::size_t k = 0; k < n_filed; ++k) listed_[next[filed[k].list]++] = filed[k].row;
}

HELDOUT_CLONES void add_listed(const std::uint8_t* rows, const std::uint32_t* row, const std::uint32_t* end,
                               std::size_t together, bool added, std::int64_t* sums) {
    constexpr std::size_t L = kLanes<std::uint8_t>;
    const std::int64_t sign = added ? 1 : -1;
    alignas(64) std::uint8_t bytes[L];
    if (together < 4) {
        for (; row != end; ++row) {
            const std::uint8_t* r = rows + *row * L;
            for (std::size_t l = 0; l < L; ++l) sums[l] += sign * r[l];
        }
        return;
    }
    while (row != end) {
        const std::uint32_t* stop = row + std::min<std::size_t>(together / 4 * 4, static_cast<std::size_t>(end - row));
        std::memset(bytes, 0, sizeof bytes);
        for (; row != stop; row += 4) {
            const std::uint8_t* r0 = rows + row[0] * L;
            const std::uint8_t* r1 = rows + row[1] * L;
            const std::uint8_t* r2 = rows + row[2] * L;
            const std::uint8_t* r3 = rows + row[3] * L;
            for (std::size_t l = 0; l < L; ++l) {
                bytes[l] = static_cast<std::uint8_t>(bytes[l] + r0[l] + r1[l] + r2[l] + r3[l]);
            }
        }
        for (std::size_t l = 0; l < L; ++l) sums[l] += sign * bytes[l];
    }
}

void CellSums::all(const Weightings<std::uint8_t>& counts, std::int64_t* sums) const {
    constexpr std::size_t L = kLanes<std::uint8_t>;
    each_column(counts, n_cells_,
                [&](std::size_t first, std::size_t n_lanes, std::size_t j, const std::int64_t* cell_sums) {
                    for (std::size_t l = 0; l < n_lanes; ++l) {
                        std::int64_t* to = sums + ((first + l) * columns() + j) * n_cells_;
                        for (std::size_t cell = 0; cell < n_cells_; ++cell) to[cell] = cell_sums[cell * L + l];
                    }
                });
}

void CellSums::selected(const Weightings<std::uint8_t>& counts, const std::int64_t* columns,
                        std::int64_t* sums) const {
    std::vector<std::int64_t> usual(n_cells_ + 1);
    std::vector<std::uint8_t> lane(n_ + 1);  // the row after the last is zero, for padding
    for (std::size_t l = 0; l < counts.lanes; ++l) {
        std::copy(counts.lane(l), counts.lane(l) + n_, lane.begin());
        std::fill(usual.begin(), usual.end(), 0);
        for (std::size_t i = 0; i < n_; ++i) usual[static_cast<std::size_t>(usual_[i] + 1)] += lane[i];
        std::int64_t* to = sums + l * n_cells_;
        std::copy(usual.begin() + 1, usual.end(), to);
        const auto j = static_cast<std::size_t>(columns[l]);
        for (std::size_t k = starts_[j]; k < starts_[j + 1]; ++k) {
            std::int64_t sum = 0;
            for (std::size_t at = lists_[k].begin; at < lists_[k].end; ++at) sum += lane[listed_[at]];
            to[lists_[k].cell] += lists_[k].added ? sum : -sum;
        }
    }
}

// Row after row into the cell that a column names, all lanes at once. Cell n_cells takes what is not counted.
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
