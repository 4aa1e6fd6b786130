// The interface to Python: results are written into arrays of the caller. No kernel holds the GIL, and none starts a
// thread; heldout.kernels.compiled checks arguments and heldout.selection.bootstrap_draws distributes the blocks.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstring>
#include <stdexcept>

#include "best_out_of_bag.hpp"
#include "calibration.hpp"
#include "cell_sums.hpp"
#include "concordance.hpp"
#include "curve_start.hpp"
#include "draws.hpp"
#include "kernel_matrices.hpp"
#include "loss_sums.hpp"
#include "medians.hpp"
#include "precision_sums.hpp"
#include "rank_correlations.hpp"
#include "rank_sums.hpp"
#include "row_counts.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using heldout::Weightings;

template <class T, int n>
using Array = nb::ndarray<T, nb::ndim<n>, nb::c_contig, nb::device::cpu>;
using Columns = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;
using Flags = Array<const bool, 1>;
using Codes = Array<const std::uint32_t, 1>;
template <class T>
using Weights = Array<const T, 2>;
using Unlocked = nb::call_guard<nb::gil_scoped_release>;

heldout::Matrix matrix(const Columns& values) {
    return {values.data(), values.shape(0), values.shape(1), static_cast<std::ptrdiff_t>(values.stride(0)),
            static_cast<std::ptrdiff_t>(values.stride(1))};
}

template <class T>
Weightings<T> weightings(const Weights<T>& counts) {
    return {counts.data(), counts.shape(0), counts.shape(1)};
}

template <class Kernel, class T, class Out>
void all(const Kernel& kernel, Weights<T> counts, Array<Out, 2> out) {
    kernel.all(weightings(counts), out.data());
}

template <class Kernel, class T, class Out>
void selected(const Kernel& kernel, Weights<T> counts, Array<const std::int64_t, 1> columns, Array<Out, 1> out) {
    kernel.selected(weightings(counts), columns.data(), out.data());
}

// LogisticFits has two numbers per column.
template <class T>
void all_fits(const heldout::LogisticFits& fits, Weights<T> counts, Array<double, 3> out) {
    fits.all(weightings(counts), out.data());
}

template <class T>
void selected_fits(const heldout::LogisticFits& fits, Weights<T> counts, Array<const std::int64_t, 1> columns,
                   Array<double, 2> out) {
    fits.selected(weightings(counts), columns.data(), out.data());
}

// SciPy offers the BLAS in which scikit-learn computes to other extensions, with the type of each function.
heldout::Dot dot_of(const nb::capsule& function) {
    constexpr const char* kType =
        "__pyx_t_5scipy_6linalg_11cython_blas_d (int *, __pyx_t_5scipy_6linalg_11cython_blas_d *, int *, "
        "__pyx_t_5scipy_6linalg_11cython_blas_d *, int *)";
    if (function.name() == nullptr || std::strcmp(function.name(), kType) != 0) {
        throw std::invalid_argument("the inner product of SciPy has another type");
    }
    return reinterpret_cast<heldout::Dot>(function.data());
}

// The four calls of a kernel whose values are doubles under counts and weights alike.
template <class Kernel, class Class>
void offer_doubles(Class& kernel) {
    const auto strict = [](const char* name) { return nb::arg(name).noconvert(); };
    kernel.def("all", &all<Kernel, std::uint8_t, double>, strict("counts"), strict("out"), Unlocked())
        .def("all", &all<Kernel, double, double>, strict("counts"), strict("out"), Unlocked())
        .def("selected", &selected<Kernel, std::uint8_t, double>, strict("counts"), strict("columns"), strict("out"),
             Unlocked())
        .def("selected", &selected<Kernel, double, double>, strict("counts"), strict("columns"), strict("out"),
             Unlocked());
}

}  // namespace

NB_MODULE(_core, m) {
    using heldout::CellSums;
    using heldout::ConcordanceSums;
    using heldout::Medians;
    using heldout::PrecisionSums;
    using heldout::RankPrograms;
    using heldout::RankSums;
    using u8 = std::uint8_t;
    using i64 = std::int64_t;
    nb::set_leak_warnings(false);  // no warnings for users whose interpreter stops early
    const auto strict = [](const char* name) { return nb::arg(name).noconvert(); };

    m.def(
        "draw_units",
        [](std::uint64_t seed, Array<const std::uint64_t, 1> bootstraps, std::uint64_t attempt, Array<u8, 2> out) {
            heldout::draw_units(seed, bootstraps.data(), bootstraps.shape(0), attempt, out.shape(1), out.data());
        },
        "seed"_a, strict("bootstraps"), "attempt"_a, strict("out"), Unlocked());

    m.def(
        "cut_rows",
        [](Weights<u8> counts, Array<const i64, 1> rows, Array<u8, 2> out) {
            heldout::cut_rows(weightings(counts), rows.data(), rows.shape(0), out.data());
        },
        strict("counts"), strict("rows"), strict("out"), Unlocked());
    m.def(
        "total_counts",
        [](Weights<u8> counts, std::optional<Flags> flags, Array<double, 1> out) {
            heldout::total_counts(weightings(counts), flags ? flags->data() : nullptr, out.data());
        },
        strict("counts"), strict("flags").none(), strict("out"), Unlocked());

    nb::class_<RankPrograms>(m, "RankPrograms")
        .def("all", &all<RankPrograms, u8, i64>, strict("counts"), strict("out"), Unlocked())
        .def("all", &all<RankPrograms, double, double>, strict("counts"), strict("out"), Unlocked())
        .def("selected", &selected<RankPrograms, u8, i64>, strict("counts"), strict("columns"), strict("out"),
             Unlocked())
        .def("selected", &selected<RankPrograms, double, double>, strict("counts"), strict("columns"),
             strict("out"), Unlocked())
        .def(
            "best_out_of_bag",
            [](const RankPrograms& sums, Weights<u8> counts, bool greatest, Array<i64, 1> columns,
               Array<i64, 1> out) {
                heldout::best_out_of_bag(sums, weightings(counts), greatest, columns.data(), out.data());
            },
            strict("counts"), "greatest"_a, strict("columns"), strict("out"), Unlocked());
    nb::class_<RankSums, RankPrograms>(m, "RankSums")
        .def(
            "__init__",
            [](RankSums* self, Columns scores, Flags positive, Flags negative, std::optional<Codes> folds,
               std::size_t most_steps) {
                new (self) RankSums(matrix(scores), positive.data(), negative.data(), folds ? folds->data() : nullptr,
                                    most_steps);
            },
            strict("scores"), strict("positive"), strict("negative"), strict("folds").none(), "most_steps"_a,
            Unlocked());
    nb::class_<ConcordanceSums, RankPrograms>(m, "ConcordanceSums")
        .def(
            "__init__",
            [](ConcordanceSums* self, Columns risks, Codes places, std::optional<Array<const double, 1>> factors,
               std::optional<Codes> folds, std::size_t most_steps) {
                new (self) ConcordanceSums(matrix(risks), places.data(), factors ? factors->data() : nullptr,
                                           folds ? folds->data() : nullptr, most_steps);
            },
            strict("risks"), strict("places"), strict("factors").none(), strict("folds").none(), "most_steps"_a,
            Unlocked());

    nb::class_<CellSums>(m, "CellSums")
        .def(
            "__init__",
            [](CellSums* self, Array<const std::int32_t, 2> cells, std::size_t n_cells) {
                new (self) CellSums(cells.data(), cells.shape(0), cells.shape(1), n_cells);
            },
            strict("cells"), "n_cells"_a, Unlocked())
        .def("all", &all<CellSums, u8, i64>, strict("counts"), strict("out"), Unlocked())
        .def(
            "selected",
            [](const CellSums& sums, Weights<u8> counts, Array<const i64, 1> columns, Array<i64, 2> out) {
                sums.selected(weightings(counts), columns.data(), out.data());
            },
            strict("counts"), strict("columns"), strict("out"), Unlocked())
        .def(
            "best_out_of_bag",
            [](const CellSums& sums, Weights<u8> counts, bool greatest, Array<i64, 1> columns, Array<i64, 2> out) {
                heldout::best_out_of_bag(sums, weightings(counts), greatest, columns.data(), out.data());
            },
            strict("counts"), "greatest"_a, strict("columns"), strict("out"), Unlocked());
    m.def(
        "weighted_cell_sums",
        [](Array<const std::int32_t, 2> cells, std::size_t n_cells, Weights<double> weights, Array<double, 2> out) {
            heldout::weighted_cell_sums(cells.data(), cells.shape(1), n_cells, weightings(weights), out.data());
        },
        strict("cells"), "n_cells"_a, strict("weights"), strict("out"), Unlocked());

    nb::class_<PrecisionSums> precision_sums(m, "PrecisionSums");
    precision_sums.def(
        "__init__",
        [](PrecisionSums* self, Columns scores, Flags positive) {
            new (self) PrecisionSums(matrix(scores), positive.data());
        },
        strict("scores"), strict("positive"), Unlocked());
    offer_doubles<PrecisionSums>(precision_sums);

    nb::class_<Medians> medians(m, "Medians");
    medians.def(
        "__init__", [](Medians* self, Columns values) { new (self) Medians(matrix(values)); }, strict("values"),
        Unlocked());
    offer_doubles<Medians>(medians);

    nb::class_<heldout::CurveStart> curve_start(m, "CurveStart");
    curve_start.def(
        "__init__",
        [](heldout::CurveStart* self, Columns scores, Flags positive, double share, bool area) {
            new (self) heldout::CurveStart(matrix(scores), positive.data(), share, area);
        },
        strict("scores"), strict("positive"), "share"_a, "area"_a, Unlocked());
    offer_doubles<heldout::CurveStart>(curve_start);

    nb::class_<heldout::RankCorrelations> rank_correlations(m, "RankCorrelations");
    rank_correlations.def(
        "__init__",
        [](heldout::RankCorrelations* self, Columns values, Array<const double, 1> target) {
            new (self) heldout::RankCorrelations(matrix(values), target.data());
        },
        strict("values"), strict("target"), Unlocked());
    offer_doubles<heldout::RankCorrelations>(rank_correlations);

    nb::class_<heldout::BinnedGaps> binned_gaps(m, "BinnedGaps");
    binned_gaps.def(
        "__init__",
        [](heldout::BinnedGaps* self, Array<const double, 2> values, Array<const std::int32_t, 2> bins,
           std::size_t n_bins) {
            new (self) heldout::BinnedGaps(values.data(), bins.data(), values.shape(0), values.shape(1), n_bins);
        },
        strict("values"), strict("bins"), "n_bins"_a, Unlocked());
    offer_doubles<heldout::BinnedGaps>(binned_gaps);

    nb::class_<heldout::LogisticFits>(m, "LogisticFits")
        .def(
            "__init__",
            [](heldout::LogisticFits* self, Columns values, Flags positive, bool given_slope) {
                new (self) heldout::LogisticFits(matrix(values), positive.data(), given_slope);
            },
            strict("values"), strict("positive"), "given_slope"_a, Unlocked())
        .def("all", &all_fits<u8>, strict("counts"), strict("out"), Unlocked())
        .def("all", &all_fits<double>, strict("counts"), strict("out"), Unlocked())
        .def("selected", &selected_fits<u8>, strict("counts"), strict("columns"), strict("out"), Unlocked())
        .def("selected", &selected_fits<double>, strict("counts"), strict("columns"), strict("out"), Unlocked());

    m.def(
        "weighted_loss_sums",
        [](Array<const double, 2> losses, Weights<double> weights, Array<double, 2> out) {
            heldout::weighted_loss_sums(losses.data(), losses.shape(1), weightings(weights), out.data());
        },
        strict("losses"), strict("weights"), strict("out"), Unlocked());
    m.def(
        "chosen_loss_sums",
        [](const Columns& losses, Weights<u8> counts, Array<const i64, 1> chosen, Array<double, 1> out) {
            heldout::chosen_loss_sums(matrix(losses), weightings(counts), chosen.data(), out.data());
        },
        strict("losses"), strict("counts"), strict("chosen"), strict("out"), Unlocked());

    using Kernel = decltype(&heldout::inner_products);
    const auto offer_pairs = [&](const char* name, Kernel kernel) {
        m.def(
            name,
            [kernel](const nb::capsule& function, Array<const double, 2> left, Array<const double, 2> right,
                     Array<double, 2> out) {
                const heldout::Dot dot = dot_of(function);
                nb::gil_scoped_release unlocked;
                kernel(dot, left.data(), left.shape(0), right.data(), right.shape(0), left.shape(1), out.data());
            },
            "dot"_a, strict("left"), strict("right"), strict("out"));
    };
    offer_pairs("inner_products", &heldout::inner_products);
    offer_pairs("squared_distances", &heldout::squared_distances);
    m.def(
        "exponentials",
        [](Array<const double, 2> values, double factor, bool symmetric, Array<double, 2> out) {
            heldout::exponentials(values.data(), values.shape(0), values.shape(1), factor, symmetric, out.data());
        },
        strict("values"), "factor"_a, "symmetric"_a, strict("out"), Unlocked());
    m.def(
        "hyperbolic_tangents",
        [](Array<const double, 2> values, double factor, double offset, Array<double, 2> out) {
            heldout::hyperbolic_tangents(values.data(), values.size(), factor, offset, out.data());
        },
        strict("values"), "factor"_a, "offset"_a, strict("out"), Unlocked());
}
