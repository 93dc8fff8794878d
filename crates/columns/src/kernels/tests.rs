//! Kernels against the obvious loops.
