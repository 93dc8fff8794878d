//! Where the system does not let a mapped file be cut, nothing has to be watched.

/// Watches nothing.
#[derive(Debug)]
pub(super) struct Guard;

impl Guard {
    pub(super) fn over(_: &[u8]) -> std::io::Result<Self> {
        Ok(Self)
    }

    pub(super) fn is_torn(&self) -> bool {
        false
    }
}
