// The Python face: arrays in, results into arrays that the caller made. No kernel holds the GIL, and none
// starts a thread; heldout.kernels.compiled checks arguments and heldout.kernels.blocks spreads the blocks.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include "best_out_of_bag.hpp"
#include "cell_sums.hpp"
#include "concordance.hpp"
#include "draws.hpp"
#include "loss_sums.hpp"
#include "medians.hpp"
#include "precision_sums.hpp"
#include "rank_sums.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using heldout::Weightings;

template <class T, int n>
using Array = nb::ndarray<T, nb::ndim<n>, nb::c_contig, nb::device::cpu>;
using Columns = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;
using Flags = Array<const bool, 1>;
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
    nb::set_leak_warnings(false);  // an interpreter that stops early is no news to a user
    const auto strict = [](const char* name) { return nb::arg(name).noconvert(); };

    m.def(
        "draw_units",
        [](std::uint64_t seed, Array<const std::uint64_t, 1> bootstraps, std::uint64_t attempt, Array<u8, 2> out) {
            heldout::draw_units(seed, bootstraps.data(), bootstraps.shape(0), attempt, out.shape(1), out.data());
        },
        "seed"_a, strict("bootstraps"), "attempt"_a, strict("out"), Unlocked());

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
            [](RankSums* self, Columns scores, Flags positive, Flags negative, std::size_t most_steps) {
                new (self) RankSums(matrix(scores), positive.data(), negative.data(), most_steps);
            },
            strict("scores"), strict("positive"), strict("negative"), "most_steps"_a, Unlocked());
    nb::class_<ConcordanceSums, RankPrograms>(m, "ConcordanceSums")
        .def(
            "__init__",
            [](ConcordanceSums* self, Columns risks, Array<const std::uint32_t, 1> places,
               std::optional<Array<const double, 1>> factors, std::size_t most_steps) {
                new (self) ConcordanceSums(matrix(risks), places.data(), factors ? factors->data() : nullptr,
                                           most_steps);
            },
            strict("risks"), strict("places"), strict("factors").none(), "most_steps"_a, Unlocked());

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

    nb::class_<PrecisionSums>(m, "PrecisionSums")
        .def(
            "__init__",
            [](PrecisionSums* self, Columns scores, Flags positive) {
                new (self) PrecisionSums(matrix(scores), positive.data());
            },
            strict("scores"), strict("positive"), Unlocked())
        .def("all", &all<PrecisionSums, u8, double>, strict("counts"), strict("out"), Unlocked())
        .def("all", &all<PrecisionSums, double, double>, strict("counts"), strict("out"), Unlocked())
        .def("selected", &selected<PrecisionSums, u8, double>, strict("counts"), strict("columns"), strict("out"),
             Unlocked())
        .def("selected", &selected<PrecisionSums, double, double>, strict("counts"), strict("columns"), strict("out"),
             Unlocked());

    nb::class_<Medians>(m, "Medians")
        .def(
            "__init__", [](Medians* self, Columns values) { new (self) Medians(matrix(values)); }, strict("values"),
            Unlocked())
        .def("all", &all<Medians, u8, double>, strict("counts"), strict("out"), Unlocked())
        .def("all", &all<Medians, double, double>, strict("counts"), strict("out"), Unlocked())
        .def("selected", &selected<Medians, u8, double>, strict("counts"), strict("columns"), strict("out"),
             Unlocked())
        .def("selected", &selected<Medians, double, double>, strict("counts"), strict("columns"), strict("out"),
             Unlocked());

    m.def(
        "weighted_loss_sums",
        [](Array<const double, 2> losses, Weights<double> weights, Array<double, 2> out) {
            heldout::weighted_loss_sums(losses.data(), losses.shape(1), weightings(weights), out.data());
        },
        strict("losses"), strict("weights"), strict("out"), Unlocked());
}
