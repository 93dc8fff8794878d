// The loops of crates/forthwith/examples/rows.rs by C++ ROOT: root -l -b -q 'loops.C+O("sum", "/dev/shm/rows/one.root", 3)'
#include <ROOT/RDataFrame.hxx>
#include <ROOT/RVec.hxx>
#include <TFile.h>
#include <TTree.h>
#include <TTreeReader.h>
#include <TTreeReaderArray.h>
#include <TTreeReaderValue.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

static double sum_of(const std::string& name) {
    TFile file(name.c_str());
    TTreeReader reader("events", &file);
    TTreeReaderValue<float> x(reader, "x");
    double sum = 0;
    while (reader.Next()) sum += *x;
    return sum;
}

static double dimuon_of(const std::string& name) {
    TFile file(name.c_str());
    TTreeReader reader("events", &file);
    TTreeReaderValue<UInt_t> run(reader, "run");
    TTreeReaderValue<ULong64_t> event(reader, "event");
    TTreeReaderValue<float> met(reader, "met");
    TTreeReaderArray<float> pt(reader, "Muon_pt"), eta(reader, "Muon_eta"), phi(reader, "Muon_phi");
    TTreeReaderArray<float> mass(reader, "Muon_mass"), iso(reader, "Muon_iso"), dxy(reader, "Muon_dxy"),
        dz(reader, "Muon_dz"), ptError(reader, "Muon_pt_error"), dxyError(reader, "Muon_dxy_error"),
        dzError(reader, "Muon_dz_error"), distance(reader, "Muon_distance");
    TTreeReaderArray<int> charge(reader, "Muon_charge"), id(reader, "Muon_id"), jet(reader, "Muon_jet");
    TTreeReaderArray<unsigned char> stations(reader, "Muon_stations");
    TTreeReaderArray<bool> isTight(reader, "Muon_is_tight");
    double sum = 0;
    while (reader.Next()) {
        sum += double(*run) + double(*event % 2);
        auto count = pt.GetSize();
        if (count > 0) {
            sum += double(phi[0] + mass[0] + iso[0] + dxy[0] + dz[0] + distance[0]);
            sum += double(ptError[0] + dxyError[0] + dzError[0]) + double(id[0] + jet[0] + stations[0] + isTight[0]);
        }
        if (count != 2 || charge[0] == charge[1] || *met > 100) continue;
        float angles = std::cosh(eta[0] - eta[1]) - std::cos(phi[0] - phi[1]);
        sum += std::sqrt(2 * pt[0] * pt[1] * angles);
    }
    return sum;
}

static double frame_of(const std::string& name) {
    using Floats = const ROOT::RVec<float>&;
    using Ints = const ROOT::RVec<int>&;
    auto look = [](UInt_t run, ULong64_t event, float met, Floats pt, Floats eta, Floats phi, Floats mass, Floats iso,
                   Floats dxy, Floats dz, Floats ptError, Floats dxyError, Floats dzError, Floats distance, Ints charge,
                   Ints id, Ints jet, const ROOT::RVec<unsigned char>& stations, const ROOT::RVec<bool>& isTight) {
        double sum = double(run) + double(event % 2);
        auto count = pt.size();
        if (count > 0) {
            sum += double(phi[0] + mass[0] + iso[0] + dxy[0] + dz[0] + distance[0]);
            sum += double(ptError[0] + dxyError[0] + dzError[0]) + double(id[0] + jet[0] + stations[0] + isTight[0]);
        }
        if (count != 2 || charge[0] == charge[1] || met > 100) return sum;
        float angles = std::cosh(eta[0] - eta[1]) - std::cos(phi[0] - phi[1]);
        return sum + std::sqrt(2 * pt[0] * pt[1] * angles);
    };
    ROOT::RDataFrame frame("events", name);
    return *frame
                .Define("looked", look,
                        {"run", "event", "met", "Muon_pt", "Muon_eta", "Muon_phi", "Muon_mass", "Muon_iso", "Muon_dxy",
                         "Muon_dz", "Muon_pt_error", "Muon_dxy_error", "Muon_dz_error", "Muon_distance", "Muon_charge",
                         "Muon_id", "Muon_jet", "Muon_stations", "Muon_is_tight"})
                .Sum<double>("looked");
}

constexpr int most = 16;
struct Event {
    UInt_t run;
    ULong64_t event;
    float met;
    int count;
    float floats[11][most];
    int ints[3][most];
    unsigned char stations[most];
    bool isTight[most];
};
static const char* const float_names[] = {"pt", "eta", "phi", "mass", "iso", "dxy", "dz", "pt_error", "dxy_error",
                                          "dz_error", "distance"};
static const char* const int_names[] = {"charge", "id", "jet"};

static std::vector<Event> events_of(const std::string& name) {
    TFile file(name.c_str());
    TTreeReader reader("events", &file);
    TTreeReaderValue<UInt_t> run(reader, "run");
    TTreeReaderValue<ULong64_t> event(reader, "event");
    TTreeReaderValue<float> met(reader, "met");
    std::vector<std::unique_ptr<TTreeReaderArray<float>>> floats;
    std::vector<std::unique_ptr<TTreeReaderArray<int>>> ints;
    for (auto each : float_names)
        floats.emplace_back(new TTreeReaderArray<float>(reader, (std::string("Muon_") + each).c_str()));
    for (auto each : int_names)
        ints.emplace_back(new TTreeReaderArray<int>(reader, (std::string("Muon_") + each).c_str()));
    TTreeReaderArray<unsigned char> stations(reader, "Muon_stations");
    TTreeReaderArray<bool> isTight(reader, "Muon_is_tight");
    std::vector<Event> all;
    while (reader.Next()) {
        Event one{};
        one.run = *run, one.event = *event, one.met = *met, one.count = stations.GetSize();
        for (int at = 0; at < one.count; ++at) {
            for (size_t each = 0; each < floats.size(); ++each) one.floats[each][at] = (*floats[each])[at];
            for (size_t each = 0; each < ints.size(); ++each) one.ints[each][at] = (*ints[each])[at];
            one.stations[at] = stations[at], one.isTight[at] = isTight[at];
        }
        all.push_back(one);
    }
    return all;
}

/// Fills a tree with the buffers of its branches at one event, as ROOT's users do.
static double filled(const std::vector<Event>& events, const std::string& name, int compression) {
    TFile file(name.c_str(), "RECREATE", "", compression);
    TTree tree("events", "");
    Event one{};
    tree.Branch("run", &one.run);
    tree.Branch("event", &one.event);
    tree.Branch("met", &one.met);
    tree.Branch("nMuon", &one.count, "nMuon/I");
    auto list = [&](const std::string& each, void* at, const char* type) {
        tree.Branch(("Muon_" + each).c_str(), at, ("Muon_" + each + "[nMuon]/" + type).c_str());
    };
    for (int each = 0; each < 11; ++each) list(float_names[each], one.floats[each], "F");
    for (int each = 0; each < 3; ++each) list(int_names[each], one.ints[each], "I");
    list("stations", one.stations, "b");
    list("is_tight", one.isTight, "O");
    for (const auto& event : events) {
        one = event;
        tree.Fill();
    }
    tree.Write();
    file.Close();
    return events.size();
}

template <typename F>
static void timed(const char* way, int repetitions, F loop) {
    for (int at = 0; at < repetitions; ++at) {
        auto start = std::chrono::steady_clock::now();
        double sum = loop();
        std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
        std::printf("%s %.2f ms %.6e\n", way, took.count(), sum);
    }
}

void loops(const char* way, const char* file, int repetitions) {
    std::string name(file), as(way);
    if (as == "sum") timed(way, repetitions, [&] { return sum_of(name); });
    if (as == "dimuon") timed(way, repetitions, [&] { return dimuon_of(name); });
    if (as == "frame") timed(way, repetitions, [&] { return frame_of(name); });
    if (as == "threads") {
        ROOT::EnableImplicitMT();
        timed(way, repetitions, [&] { return frame_of(name); });
    }
    if (as == "write" || as == "write-zstd") {
        auto events = events_of(name);
        int compression = as == "write" ? 0 : 505;
        timed(way, repetitions, [&] { return filled(events, name + ".root.root", compression); });
    }
}
