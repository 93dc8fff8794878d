//! A macro for [`Debug`](std::fmt::Debug) implementations that show a part of a type.

/// Implements [`Debug`](std::fmt::Debug) for a type with the named values only, for types whose other fields
/// are large or do not implement it.
///
/// ```
/// struct Lines {
///     text: String,
/// }
///
/// forthwith_io::impl_debug!(Lines, |it| "count": it.text.lines().count());
///
/// assert_eq!(format!("{:?}", Lines { text: "a\nb".into() }), "Lines { count: 2, .. }");
/// ```
#[macro_export]
macro_rules! impl_debug {
    ($type:ident, |$it:ident| $($name:literal: $part:expr),+) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $it = self;
                f.debug_struct(stringify!($type))$(.field($name, &$part))+.finish_non_exhaustive()
            }
        }
    };
}
