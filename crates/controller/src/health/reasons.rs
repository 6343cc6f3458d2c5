//! Why superblocks are moved, and the record of decisions to move them.

use outlast_ftl::StreamCause;
use outlast_units::{Nanos, SuperblockId};
use serde::Serialize;

macro_rules! reasons {
    ($($(#[$meta:meta])* $setting:ident: $Setting:ty, $check:ident => $file:ident::$Policy:ident, $Reason:ident = $name:literal;)+) => {
        /// Why a superblock was chosen to be moved.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, outlast_persist::Persist)]
        #[serde(rename_all = "kebab-case")]
        pub enum Reason {
            /// Garbage collection: space was short.
            Space,
            /// Static wear levelling.
            Wear,
            $(#[doc = concat!("Scrubbing: see `device.scrub.", stringify!($setting), "`.")] $Reason,)+
            /// Its stripes have lost members: what is left of its protection is too little.
            Exposed,
            /// Its class has another code now.
            Code,
            /// Dies have been added that it does not lie on.
            Dies,
            /// A die that holds some of it is expected to fail.
            Evacuation,
        }

        impl Reason {
            /// All, in the order of tables.
            pub const ALL: [Self; 6 + [$($name,)+].len()] = [
                Self::Space, Self::Wear, $(Self::$Reason,)+ Self::Exposed, Self::Code, Self::Dies, Self::Evacuation,
            ];
            /// Number of reasons.
            pub const COUNT: usize = Self::ALL.len();

            /// Its name in tables.
            pub fn name(self) -> &'static str {
                match self {
                    Self::Space => "space",
                    Self::Wear => "wear",
                    $(Self::$Reason => $name,)+
                    Self::Exposed => "exposed",
                    Self::Code => "code",
                    Self::Dies => "dies",
                    Self::Evacuation => "evacuation",
                }
            }

            /// What the units moved are counted as.
            pub fn cause(self) -> StreamCause {
                match self {
                    Self::Space => StreamCause::Gc,
                    Self::Wear => StreamCause::WearLeveling,
                    $(Self::$Reason)|+ => StreamCause::Scrub,
                    Self::Exposed | Self::Code | Self::Dies | Self::Evacuation => StreamCause::Reencode,
                }
            }
        }
    };
}

outlast_settings::scrub_policies!(reasons);

/// A decision to move a superblock, with what was known: the trace of the policies in force.
#[derive(Clone, Copy, Debug, PartialEq, outlast_persist::Persist)]
pub struct Decision {
    /// When.
    pub at: Nanos,
    /// Of which flash core.
    pub core: u16,
    /// Which superblock.
    pub superblock: SuperblockId,
    /// Why.
    pub reason: Reason,
    /// Units that have to be moved.
    pub valid: u32,
    /// Pages re-read since its erasure.
    pub rereads: u32,
    /// The greatest expected number of wrong bits of a codeword in it; not a number where the flash never errs.
    pub expected_errors: f64,
    /// True if its data has parity.
    pub protected: bool,
    /// True if what is moved gets parity.
    pub will_be_protected: bool,
}

/// Decisions kept.
const MOST_DECISIONS: usize = 100_000;

/// What was decided since the last reset.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub struct Decisions {
    kept: Vec<Decision>,
    /// Relocations begun, by reason.
    moved: [u64; Reason::COUNT],
}

impl Decisions {
    /// A relocation begins for `reason`. `decision` is worked out only where it is still kept.
    ///
    /// # Panics
    /// If the decision is of another reason.
    pub fn note(&mut self, reason: Reason, decision: impl FnOnce() -> Decision) {
        self.moved[reason as usize] += 1;
        if self.kept.len() < MOST_DECISIONS {
            let decision = decision();
            assert!(decision.reason == reason, "the decision is of the reason that is counted");
            self.kept.push(decision);
        }
    }

    /// The first decisions, in order of time.
    pub fn kept(&self) -> &[Decision] {
        &self.kept
    }

    /// Relocations begun for `reason`.
    pub fn moved_for(&self, reason: Reason) -> u64 {
        self.moved[reason as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_a_name_and_a_place_of_its_own() {
        for (index, reason) in Reason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, index);
            assert_eq!(Reason::ALL.iter().filter(|other| other.name() == reason.name()).count(), 1);
        }
    }
}
