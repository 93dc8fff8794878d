//! Commands of builders.

use std::fmt;

macro_rules! commands {
    ($($(#[doc = $doc:literal])* $command:ident $name:literal;)*) => {
        /// Command of a builder. Its number is the one used in the program of a type.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        #[non_exhaustive]
        #[expect(missing_docs, reason = "they are the commands")]
        pub enum Command { $($(#[doc = $doc])* $command,)* }

        impl Command {
            /// Returns the name of the method.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$command => $name,)* }
            }
        }
    };
}

commands! {
    Null "null"; Boolean "boolean"; Integer "integer";
    /// An integer above the maximum of `int64`.
    Unsigned "integer";
    Real "real"; Complex "complex"; Datetime "datetime"; Timedelta "timedelta"; Bytestring "bytestring"; String "string";
    BeginList "begin_list"; EndList "end_list";
    BeginTuple "begin_tuple"; Index "index"; EndTuple "end_tuple";
    BeginRecord "begin_record"; Field "field"; EndRecord "end_record";
    Tag "tag"; Append "append";
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
