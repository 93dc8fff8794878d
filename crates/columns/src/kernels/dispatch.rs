//! Which compilation of the kernels this processor runs.

use std::sync::OnceLock;

/// What the kernels may use of the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Level {
    /// What every processor of the target has.
    Baseline,
    /// AVX2 and BMI.
    Avx2,
    /// AVX-512 with byte and word operations.
    Avx512,
}

impl Level {
    /// The levels this processor has, lowest first.
    #[must_use]
    pub fn available() -> Vec<Self> {
        [Self::Baseline, Self::Avx2, Self::Avx512].into_iter().filter(|level| level.runs_here()).collect()
    }

    /// Whether this processor has it.
    #[must_use]
    pub fn runs_here(self) -> bool {
        match self {
            Self::Baseline => true,
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Self::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
            }
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Self::Avx512 => {
                Self::Avx2.runs_here()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512cd")
            }
            #[cfg(not(all(target_arch = "x86_64", not(miri))))]
            _ => false,
        }
    }
}

/// The level in use: the highest this processor has, or the one that the environment variable `FORTHWITH_KERNELS` (`baseline`,
/// `avx2`, `avx512`) names if that is lower. Decided once in a process.
#[must_use]
pub fn level() -> Level {
    static CHOSEN: OnceLock<Level> = OnceLock::new();
    *CHOSEN.get_or_init(|| {
        let most = match std::env::var("FORTHWITH_KERNELS").as_deref() {
            Ok("baseline") => Level::Baseline,
            Ok("avx2") => Level::Avx2,
            _ => Level::Avx512,
        };
        Level::available().into_iter().filter(|level| *level <= most).max().unwrap_or(Level::Baseline)
    })
}

/// Defines `fn name(level, arguments)` that runs `body(arguments)` compiled for the level. The body must be `#[inline(always)]`, and so
/// must everything in it that is to be vectorised.
macro_rules! for_every_level {
    ($(#[$meta:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $result:ty)? = $body:path) => {
        $(#[$meta])*
        fn $name(level: $crate::kernels::Level, $($arg: $type),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,bmi1,bmi2")]
                fn avx2($($arg: $type),*) $(-> $result)? {
                    $body($($arg),*)
                }
                #[target_feature(enable = "avx2,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512cd")]
                fn avx512($($arg: $type),*) $(-> $result)? {
                    $body($($arg),*)
                }
                match level {
                    $crate::kernels::Level::Avx512 if level.runs_here() => {
                        // SAFETY: the processor was asked.
                        return unsafe { avx512($($arg),*) };
                    }
                    $crate::kernels::Level::Avx2 if level.runs_here() => {
                        // SAFETY: the processor was asked.
                        return unsafe { avx2($($arg),*) };
                    }
                    _ => {}
                }
            }
            let _ = level;
            $body($($arg),*)
        }
    };
}
pub(super) use for_every_level;
