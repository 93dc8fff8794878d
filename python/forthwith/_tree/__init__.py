"""Trees and their branches: what is in them, which of it is read, and how."""
