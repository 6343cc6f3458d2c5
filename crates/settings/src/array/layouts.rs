//! The list of the parity layouts that have a name.

use outlast_units::JsonSchema;
use serde::{Deserialize, Serialize};

/// Hands the list to a macro: the name of each layout in scenarios, the file that says where its chunks lie, and what the reference says of it.
#[macro_export]
macro_rules! parity_layouts {
    ($with:ident) => {
        $with! {
            #[default] LeftSymmetric = left_symmetric, "Parity moves left, data follows it: the usual choice, since long reads then use every member.";
            LeftAsymmetric = left_asymmetric, "Parity moves left, data stays in order of members.";
            RightSymmetric = right_symmetric, "Parity moves right, data follows it.";
            RightAsymmetric = right_asymmetric, "Parity moves right, data stays in order of members.";
            ParityFirst = parity_first, "Parity always on the first members.";
            ParityLast = parity_last, "Parity always on the last members: RAID-4.";
        }
    };
}

macro_rules! names {
    ($($(#[$attribute:meta])? $name:ident = $file:ident, $doc:literal;)+) => {
        /// The common ways to rotate parity, named as in Linux md (`md(4)`, `raid5.h`). "Left" moves parity from the last member
        /// towards the first, "right" the other way; "symmetric" starts the data after the parity, "asymmetric" at the first member.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum ParityLayout {
            $(#[doc = $doc] $(#[$attribute])? $name,)+
        }

        impl ParityLayout {
            /// Every layout.
            pub const ALL: &[Self] = &[$(Self::$name),+];
        }
    };
}

parity_layouts!(names);
