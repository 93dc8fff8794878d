//! Detection of the instructions that kernels may use.

use std::sync::OnceLock;

/// A set of instructions that kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Generation {
    /// Instructions that every processor of the target has.
    Baseline,
    /// x86-64 with AVX2, BMI1, BMI2, LZCNT, MOVBE and POPCNT.
    Avx2,
    /// The instructions of `Avx2`, and AVX-512 F, BW, CD, DQ and VL.
    Avx512,
}

impl Generation {
    const ALL: [Self; 3] = [Self::Baseline, Self::Avx2, Self::Avx512];

    /// Returns the name in `FORTHWITH_KERNELS`.
    const fn word(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// Whether this processor supports the generation.
    fn is_here(self) -> bool {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        macro_rules! has { ($($feature:tt)*) => { $(std::is_x86_feature_detected!($feature))&&* }; }
        match self {
            Self::Baseline => true,
            // The features are those of `compiled_for!`.
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Self::Avx2 => has!("avx2" "bmi1" "bmi2" "lzcnt" "movbe" "popcnt"),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Self::Avx512 => {
                Self::Avx2.is_here() && has!("avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl")
            }
            #[cfg(not(all(target_arch = "x86_64", not(miri))))]
            _ => false,
        }
    }
}

/// Features of this processor that kernels may use. A value exists only for supported features, so it is a
/// proof of support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuFeatures {
    generation: Generation,
    shuffles: bool,
}

impl CpuFeatures {
    /// Returns all features of this processor, or fewer if the environment variable `FORTHWITH_KERNELS` names
    /// a lower generation (`baseline`, `avx2`, `avx512`). Determined once per process, for all kernels.
    #[must_use]
    pub fn current() -> Self {
        static CURRENT: OnceLock<CpuFeatures> = OnceLock::new();
        *CURRENT.get_or_init(|| Self::up_to(limit(std::env::var("FORTHWITH_KERNELS").ok().as_deref())))
    }

    /// Returns one value for each generation that this processor supports, lowest first.
    #[must_use]
    pub fn available() -> Vec<Self> {
        let here = Generation::ALL.into_iter().filter(|generation| generation.is_here());
        here.map(Self::up_to).collect()
    }

    /// Returns the generation of the kernels to run.
    #[must_use]
    pub const fn generation(self) -> Generation {
        self.generation
    }

    /// Whether machine code may shuffle the bytes of a vector.
    #[must_use]
    pub const fn shuffles(self) -> bool {
        self.shuffles
    }

    /// Returns the name of the generation as `explain` prints it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.generation {
            Generation::Baseline => "baseline",
            Generation::Avx2 => "AVX2",
            Generation::Avx512 => "AVX-512",
        }
    }

    /// Returns the supported features of a generation and those below it.
    fn up_to(most: Generation) -> Self {
        let here =
            Generation::ALL.into_iter().filter(|generation| *generation <= most && generation.is_here());
        let generation = here.max().unwrap_or(Generation::Baseline);
        #[cfg(target_arch = "x86_64")]
        let shuffles = most > Generation::Baseline && std::is_x86_feature_detected!("ssse3");
        #[cfg(not(target_arch = "x86_64"))]
        let shuffles = true;
        Self { generation, shuffles }
    }
}

/// Returns the highest generation that the environment variable allows; the highest of all without a known
/// name.
fn limit(word: Option<&str>) -> Generation {
    let named = Generation::ALL.into_iter().find(|generation| Some(generation.word()) == word);
    named.unwrap_or(Generation::Avx512)
}

/// Compiles an item, usually a function, for one [`Generation`]: `compiled_for! { Avx2 fn name() {} }`. Calls
/// of the function are unsafe except for `Baseline`: the caller has to have a [`CpuFeatures`] of the
/// generation.
#[macro_export]
macro_rules! compiled_for {
    (Baseline $($item:tt)*) => { $($item)* };
    (Avx2 $($item:tt)*) => {
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,movbe,popcnt")]
        $($item)*
    };
    (Avx512 $($item:tt)*) => {
        #[target_feature(
            enable = "avx2,bmi1,bmi2,lzcnt,movbe,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
        )]
        $($item)*
    };
}

/// Defines `fn name(features, arguments)` that runs `body(arguments)` compiled for the generation of
/// [`CpuFeatures`]. The body must be `#[inline(always)]`, and so must all functions in it that are to be
/// vectorised.
#[macro_export]
macro_rules! for_each_cpu {
    ($(#[$meta:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $result:ty)? = $body:path) => {
        $(#[$meta])*
        fn $name(features: $crate::CpuFeatures, $($arg: $type),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            {
                $crate::compiled_for! { Avx2 fn avx2($($arg: $type),*) $(-> $result)? { $body($($arg),*) } }
                $crate::compiled_for! { Avx512 fn avx512($($arg: $type),*) $(-> $result)? { $body($($arg),*) } }
                match features.generation() {
                    $crate::Generation::Baseline => {}
                    // SAFETY: the processor has the generation, or there would be no such features.
                    $crate::Generation::Avx2 => return unsafe { avx2($($arg),*) },
                    // SAFETY: as above.
                    $crate::Generation::Avx512 => return unsafe { avx512($($arg),*) },
                }
            }
            let _ = features;
            $body($($arg),*)
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_of_this_processor_and_at_most_as_named() {
        let available = CpuFeatures::available();
        assert_eq!(available[0].generation(), Generation::Baseline);
        assert!(available.is_sorted_by_key(|features| features.generation()));
        for generation in Generation::ALL {
            let features = CpuFeatures::up_to(limit(Some(generation.word())));
            assert!(features.generation() <= generation && available.contains(&features));
            assert_eq!(generation.is_here(), features.generation() == generation);
        }
        assert_eq!(limit(None), Generation::Avx512);
        assert_eq!(limit(Some("of no processor")), Generation::Avx512);
    }
}
