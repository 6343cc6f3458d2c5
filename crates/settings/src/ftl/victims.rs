//! The list of the built-in policies of collection.

use outlast_units::JsonSchema;
use serde::{Deserialize, Serialize};

/// Hands the list to a macro: the documentation of each policy, its name, and the module of the translation layer that has its choice.
#[macro_export]
macro_rules! victim_policies {
    ($with:ident) => {
        $with! {
            /// The one with the fewest valid units.
            Greedy = greedy;
            /// The one with the largest (1 − u) / 2u · age (Kawaguchi, Nishioka, Motoda, USENIX 1995).
            CostBenefit = cost_benefit;
            /// The one with the largest (1 − u) / u · age / erasures (Chiang, Chang, Journal of Systems and Software 48, 1999).
            CostAgeTimes = cost_age_times;
            /// The one filled longest ago.
            Fifo = fifo;
            /// The one with the fewest valid units among `choices` random ones (Van Houdt, SIGMETRICS 2013).
            DChoices = d_choices;
        }
    };
}

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident = $module:ident;)*) => {
        /// Which superblock garbage collection takes next.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum VictimPolicy {
            $($(#[$doc])* $name,)*
        }

        impl VictimPolicy {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];
        }
    };
}

victim_policies!(names);
