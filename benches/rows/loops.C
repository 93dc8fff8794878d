// The loops of crates/forthwith/examples/rows.rs by C++ ROOT: root -l -b -q 'loops.C+O("/dev/shm/rows", 3)'
#include <TFile.h>
#include <TStopwatch.h>
#include <TTreeReader.h>
#include <TTreeReaderArray.h>
#include <TTreeReaderValue.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>

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
    TTreeReaderValue<float> met(reader, "met");
    TTreeReaderArray<float> pt(reader, "Muon_pt"), eta(reader, "Muon_eta"), phi(reader, "Muon_phi");
    // The struct in Rust has these as well and reads them. A branch that is not looked at would not be read here.
    TTreeReaderArray<float> mass(reader, "Muon_mass"), iso(reader, "Muon_iso"), dxy(reader, "Muon_dxy"),
        dz(reader, "Muon_dz");
    TTreeReaderArray<int> charge(reader, "Muon_charge"), id(reader, "Muon_id");
    double sum = 0, seen = 0;
    while (reader.Next()) {
        if (pt.GetSize() > 0) seen += mass[0] + iso[0] + dxy[0] + dz[0] + id[0] + phi[0] + eta[0] + charge[0];
        if (pt.GetSize() != 2 || charge[0] == charge[1] || *met > 100) continue;
        float angles = std::cosh(eta[0] - eta[1]) - std::cos(phi[0] - phi[1]);
        sum += std::sqrt(2 * pt[0] * pt[1] * angles);
    }
    if (seen == 0) std::printf("no muons\n");
    return sum;
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

void loops(const char* folder, int repetitions) {
    std::string at(folder);
    timed("TTreeReader sum", repetitions, [&] { return sum_of(at + "/one.root"); });
    timed("TTreeReader dimuon", repetitions, [&] { return dimuon_of(at + "/muons.root"); });
}
