"""Histograms, graphs and efficiencies of ROOT files: their values as in C++ ROOT, and drawings."""
