// Calibration of every column: BinnedGaps and LogisticFits of reference_curves.py.
#pragma once

#include <vector>

#include "lanes.hpp"

namespace heldout {

class BinnedGaps {
   public:
    // `values` and `bins` (n, C) in C order; values on an exact grid, bins 0 .. n_bins - 1 (else throws
    // std::invalid_argument).
    BinnedGaps(const double* values, const std::int32_t* bins, std::size_t n_rows, std::size_t n_columns,
               std::size_t n_bins);

    std::size_t rows() const { return n_; }
    std::size_t columns() const { return n_columns_; }

    template <class T>
    void all(const Weightings<T>& weightings, double* gaps) const;
    template <class T>
    void selected(const Weightings<T>& weightings, const std::int64_t* columns, double* gaps) const;

   private:
    std::size_t n_, n_columns_, n_bins_;
    std::vector<std::uint32_t> order_;  // rows by bin, column by column
    std::vector<double> values_;        // of these rows
    std::vector<std::uint32_t> ends_;   // where each bin of each column ends in the order
};

class LogisticFits {
   public:
    LogisticFits(const Matrix& values, const bool* positive, bool given_slope);

    std::size_t rows() const { return n_; }
    std::size_t columns() const { return n_columns_; }

    // Intercept and slope.
    template <class T>
    void all(const Weightings<T>& weightings, double* fits) const;
    template <class T>
    void selected(const Weightings<T>& weightings, const std::int64_t* columns, double* fits) const;

    struct Column {
        const double *x, *truth;  // centred; 1 or 0
        std::size_t n;
        double reach, start[2];
        bool given_slope;
    };

   private:
    Column column(std::size_t j) const;
    void write(const double* fit, std::size_t lane, std::size_t j, double* to) const;

    std::size_t n_, n_columns_;
    bool given_slope_;
    std::vector<double> truth_, centred_, middles_, reaches_, starts_;
};

}  // namespace heldout
