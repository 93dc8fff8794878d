"""ROOT files that are written: `file` has files and directories, `objects` and `histograms` what Python objects become."""
