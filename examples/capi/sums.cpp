// Sums over columns of a table, in loops over their numbers: sums FILE[:TABLE]...
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

#include "forthwith.h"

// A failure as an exception with its message.
void check(forthwith_status status) {
    if (status != FORTHWITH_STATUS_OK) throw std::runtime_error(forthwith_last_error());
}

template <typename T, void (*free)(T *)>
struct Free {
    void operator()(T *handle) const { free(handle); }
};
using Table = std::unique_ptr<forthwith_table_t, Free<forthwith_table_t, forthwith_table_free>>;
using Selection = std::unique_ptr<forthwith_selection, Free<forthwith_selection, forthwith_selection_free>>;
using Steps = std::unique_ptr<forthwith_steps_t, Free<forthwith_steps_t, forthwith_steps_free>>;
using Batch = std::unique_ptr<forthwith_batch, Free<forthwith_batch, forthwith_batch_free>>;

forthwith_column column(const Batch &batch, size_t index, forthwith_kind kind, forthwith_number number) {
    forthwith_column found;
    check(forthwith_batch_column(batch.get(), index, &found));
    if (found.kind != kind || found.number != number) throw std::runtime_error("a column of another type");
    return found;
}

int main(int count, char **arguments) try {
    if (count < 2) throw std::runtime_error("usage: sums FILE[:TABLE]...");
    forthwith_table_t *opened;
    check(forthwith_chain(arguments + 1, count - 1, nullptr, &opened));
    Table events(opened);

    const char *columns[] = {"MET_pt", "Muon_pt"};
    forthwith_selection *selected;
    check(forthwith_select(events.get(), columns, 2, "nMuon > 1", &selected));
    Selection selection(selected);

    forthwith_steps_t *begun;
    check(forthwith_steps(selection.get(), 0, UINT64_MAX, 1000, &begun));
    Steps steps(begun);

    uint64_t entries = 0;
    double met_sum = 0, leading_sum = 0;
    while (true) {
        forthwith_batch *read;
        check(forthwith_steps_next(steps.get(), &read));
        if (!read) break;
        Batch batch(read);
        auto met = column(batch, 0, FORTHWITH_KIND_NUMBERS, FORTHWITH_NUMBER_FLOAT32);
        auto muons = column(batch, 1, FORTHWITH_KIND_LISTS, FORTHWITH_NUMBER_FLOAT32);
        auto met_pt = static_cast<const float *>(met.data);
        auto muon_pt = static_cast<const float *>(muons.data);
        for (uint64_t row = 0; row < met.rows; row++) {
            met_sum += met_pt[row];
            float leading = 0;
            for (auto item = muons.offsets[row]; item < muons.offsets[row + 1]; item++) {
                if (muon_pt[item] > leading) leading = muon_pt[item];
            }
            leading_sum += leading;
        }
        entries += met.rows;
    }
    std::printf("%llu entries, MET_pt %.3f, leading Muon_pt %.3f\n",
                static_cast<unsigned long long>(entries), met_sum, leading_sum);
    return 0;
} catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
