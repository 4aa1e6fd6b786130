// A radix sort on a linear image of the values, in two passes, then a comparison of neighbours in one bucket. Scores of
// models usually spread well over 2^16 (2^22) buckets, and this takes a fraction of a comparison sort's time;
// otherwise the neighbours are sorted by comparison, which only takes longer.
#include "column_order.hpp"

#include <cmath>
#include <stdexcept>

namespace heldout {

namespace {

constexpr std::size_t kColumnsAtOnce = 8;  // one cache line of a C-ordered matrix
constexpr std::size_t kLongRun = 24;

}  // namespace

// Flips the bits of a double so that unsigned comparison orders keys as values.
HELDOUT_CLONES void order_keys(const double* HELDOUT_RESTRICT values, std::size_t n,
                               std::uint64_t* HELDOUT_RESTRICT keys, std::uint64_t* least, std::uint64_t* most) {
    std::uint64_t low = std::numeric_limits<std::uint64_t>::max(), high = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double value = values[i] + 0.0;  // -0.0 becomes 0.0: they are tied
        std::uint64_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        const std::uint64_t negative = 0 - (bits >> 63);
        const std::uint64_t key = bits ^ (negative | 0x8000000000000000u);
        keys[i] = key;
        low = key < low ? key : low;
        high = key > high ? key : high;
    }
    *least = low;
    *most = high;
}

HELDOUT_CLONES void linear_buckets(const double* HELDOUT_RESTRICT values, std::size_t n, double low,
                                   double scale, std::int32_t* HELDOUT_RESTRICT buckets) {
    for (std::size_t i = 0; i < n; ++i) buckets[i] = static_cast<std::int32_t>((values[i] - low) * scale);
}

ColumnOrder::ColumnOrder(const Matrix& values, std::vector<std::uint32_t> rows)
    : values_(values),
      rows_(std::move(rows)),
      digit_bits_(rows_.size() < 4096 ? 8 : 11),
      gathered_first_(values.columns),
      gathered_(kColumnsAtOnce * rows_.size()),
      keys_(rows_.size()),
      buckets_(rows_.size()),
      ranked_(rows_.size()),
      other_(rows_.size()),
      starts_(std::size_t(2) << digit_bits_) {
    bool nan = false;
    for (std::size_t i = 0; i < values.rows; ++i) {
        const double* row = values.data + static_cast<std::ptrdiff_t>(i) * values.row_stride;
        for (std::size_t j = 0; j < values.columns; ++j) {
            const double value = row[static_cast<std::ptrdiff_t>(j) * values.column_stride];
            nan |= value != value;
        }
    }
    if (nan) {
        throw std::invalid_argument(
            "kernels do not accept NaN: leave out rows or configurations without a prediction");
    }
}

double ColumnOrder::value_of(std::uint64_t key) {
    const std::uint64_t bits = key >> 63 ? key ^ 0x8000000000000000u : ~key;
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

void ColumnOrder::gather(std::size_t first_column) {
    gathered_first_ = first_column;
    gathered_last_ = std::min(values_.columns, first_column + kColumnsAtOnce);
    const std::size_t n = rows_.size(), columns = gathered_last_ - gathered_first_;
    for (std::size_t k = 0; k < n; ++k) {
        const double* from = values_.data + static_cast<std::ptrdiff_t>(rows_[k]) * values_.row_stride +
                             static_cast<std::ptrdiff_t>(first_column) * values_.column_stride;
        for (std::size_t c = 0; c < columns; ++c) {
            gathered_[c * n + k] = from[static_cast<std::ptrdiff_t>(c) * values_.column_stride];
        }
    }
}

const std::vector<Ranked>& ColumnOrder::ascending(std::size_t column) {
    if (column < gathered_first_ || column >= gathered_last_) gather(column);
    const std::size_t n = rows_.size();
    if (n == 0) return ranked_;
    const double* values = gathered_.data() + (column - gathered_first_) * n;
    std::uint64_t least = 0, most = 0;
    order_keys(values, n, keys_.data(), &least, &most);

    const unsigned bits = 2 * digit_bits_;
    const double low = value_of(least), range = value_of(most) - low;
    const double scale = ((1u << bits) - 1) / range;
    if (std::isfinite(range) && std::isfinite(scale)) {
        linear_buckets(values, n, low, scale, buckets_.data());
    } else {  // infinite values, or hardly any range: use the leading bits of the keys
        unsigned shift = 0;
        while ((most - least) >> shift >> bits) ++shift;
        for (std::size_t i = 0; i < n; ++i) buckets_[i] = static_cast<std::int32_t>((keys_[i] - least) >> shift);
    }

    const std::uint32_t digits = 1u << digit_bits_;
    std::fill(starts_.begin(), starts_.end(), 0u);
    for (std::size_t i = 0; i < n; ++i) {
        const auto bucket = static_cast<std::uint32_t>(buckets_[i]);
        ++starts_[bucket & (digits - 1)];
        ++starts_[digits + (bucket >> digit_bits_)];
        other_[i] = {keys_[i], rows_[i], bucket};
    }
    scatter_by_digit(other_, ranked_, 0);
    scatter_by_digit(ranked_, other_, digit_bits_);
    ranked_.swap(other_);
    settle_within_buckets();
    return ranked_;
}

void ColumnOrder::scatter_by_digit(const std::vector<Ranked>& from, std::vector<Ranked>& to, unsigned shift) {
    const std::uint32_t digits = 1u << digit_bits_;
    std::uint32_t* starts = starts_.data() + (shift ? digits : 0);
    std::uint32_t before = 0;
    for (std::uint32_t d = 0; d < digits; ++d) {
        const std::uint32_t count = starts[d];
        starts[d] = before;
        before += count;
    }
    for (const Ranked& item : from) to[starts[(item.bucket >> shift) & (digits - 1)]++] = item;
}

void ColumnOrder::settle_within_buckets() {
    const auto by_key = [](const Ranked& a, const Ranked& b) { return a.key < b.key; };
    Ranked* const all = ranked_.data();
    const std::size_t n = ranked_.size();
    for (std::size_t first = 0, last; first < n; first = last) {
        for (last = first + 1; last < n && all[last].bucket == all[first].bucket; ++last) {
        }
        if (last - first == 1 || std::is_sorted(all + first, all + last, by_key)) continue;
        if (last - first > kLongRun) {
            std::stable_sort(all + first, all + last, by_key);
            continue;
        }
        for (std::size_t i = first + 1; i < last; ++i) {
            const Ranked item = all[i];
            std::size_t k = i;
            for (; k > first && all[k - 1].key > item.key; --k) all[k] = all[k - 1];
            all[k] = item;
        }
    }
}

}  // namespace heldout
