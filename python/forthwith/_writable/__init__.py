"""Writing of ROOT files: files and directories, and the conversion of Python objects."""
