//! What all catalogs have in common.

/// A catalog: an enumeration with the API's number, the word of exports and the label of each kind.
///
/// An empty word: exports do not have it.
macro_rules! numbered {
    (
        $(#[$about:meta])*
        $name:ident: $repr:ident {
            $($(#[$doc:meta])* $kind:ident = $number:literal, $word:literal, $label:literal;)+
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr($repr)]
        pub enum $name {
            $($(#[$doc])* $kind = $number),+
        }

        impl $name {
            /// All kinds, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$kind),+];

            /// The API's numbers, ascending.
            pub const NUMBERS: &'static [i64] = &[$($number),+];

            /// Words of exports with the API's numbers as text.
            pub const WORDS: &'static [(&'static str, &'static str)] =
                &[$(($word, stringify!($number))),+];

            /// The API's number.
            pub const fn number(self) -> i64 {
                self as i64
            }

            /// The API's number as text.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$kind => stringify!($number)),+ }
            }

            /// The word of exports.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$kind => $word),+ }
            }

            /// The name that people read.
            pub const fn label(self) -> &'static str {
                match self { $(Self::$kind => $label),+ }
            }

            /// The kind with this number of the API.
            pub const fn from_number(number: i64) -> Option<Self> {
                match number {
                    $($number => Some(Self::$kind),)+
                    _ => None,
                }
            }

            /// The kind with this number of the API, written as the API writes it.
            pub fn from_text(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|kind| kind.text() == text)
            }

            /// Whether `number` is the number of this kind.
            pub const fn is(self, number: i64) -> bool {
                self as i64 == number
            }
        }

        impl From<$name> for i64 {
            fn from(kind: $name) -> Self {
                kind.number()
            }
        }
    };
}

pub(crate) use numbered;

#[cfg(test)]
mod tests {
    numbered! {
        /// A kind.
        Kind: i8 {
            /// Off.
            Off = -1, "OFF", "Off";
            /// On.
            On = 4, "ON", "On";
        }
    }

    #[test]
    fn kinds_have_numbers_words_and_labels() {
        assert_eq!(Kind::NUMBERS, [-1, 4]);
        assert_eq!(Kind::WORDS, [("OFF", "-1"), ("ON", "4")]);
        for kind in Kind::ALL {
            assert_eq!(Kind::from_number(kind.number()), Some(*kind));
            assert_eq!(kind.text(), kind.number().to_string());
            assert!(kind.is(i64::from(*kind)));
        }
        assert_eq!(Kind::from_number(0), None);
        assert_eq!((Kind::from_text("-1"), Kind::from_text("+4")), (Some(Kind::Off), None));
        assert_eq!((Kind::On.word(), Kind::On.label()), ("ON", "On"));
    }
}
