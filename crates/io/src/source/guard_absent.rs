//! A guard of memory maps for systems on which a mapped file cannot be truncated, or whose signals are not
//! handled.

/// A guard without function.
#[derive(Debug)]
pub(super) struct Guard;

impl Guard {
    pub(super) fn over(_: &[u8]) -> std::io::Result<Self> {
        Ok(Self)
    }

    #[expect(clippy::unnecessary_wraps, reason = "the other guard may fail")]
    pub(super) fn renew(&self) -> std::io::Result<()> {
        Ok(())
    }

    pub(super) fn is_torn(&self) -> bool {
        false
    }
}
