//! forthwith
