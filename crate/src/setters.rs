//! Setters of option structs.

/// Defines a setter for each given field of an option struct, which other crates cannot construct as a literal.
macro_rules! setters {
    ($type:ident { $($setter:ident => $field:ident: $value:ty),* $(,)? }) => {
        impl $type {
            $(
                #[doc = concat!("Sets [`", stringify!($field), "`](", stringify!($type), "::", stringify!($field), ").")]
                #[must_use]
                pub fn $setter(self, $field: $value) -> $type {
                    $type { $field, ..self }
                }
            )*
        }
    };
}

pub(crate) use setters;
