"""Trees and branches: structure, selection and reading."""
