"""Histograms, graphs and efficiencies of ROOT files: their numbers as C++ ROOT has them, and drawings of them."""
