//! The list of scrub policies: each says by one thing when a superblock is to be moved before its data goes bad.
//!
//! A new one is a new file and a line in the list: the setting of `device.scrub` that turns it on, its type, the policy, and the reason by
//! which results name it. The settings, the reasons and the calls of all policies follow from the list.

use super::view::{RowReads, View};
use crate::health::Reason;
use outlast_settings::drive::ScrubConfig;
use outlast_units::{BlockIndex, Nanos, Pu, SuperblockId};

/// A policy: it keeps what it needs between calls, sees the flash core through a view, and says what is to be moved. It does nothing else.
pub(super) trait Policy: Sized {
    /// Its setting.
    type Setting: Copy;

    /// For a core of `superblocks` superblocks.
    fn new(setting: Self::Setting, superblocks: u32) -> Self;

    /// Simulated time begins, or the data has become older at once.
    fn begin(&mut self, _now: Nanos) {}

    /// When it has something to do by itself; [`Nanos::MAX`] where it has not.
    fn next(&self) -> Nanos {
        Nanos::MAX
    }

    /// Does what it has to do by `view.now()`: says which superblocks to move, and which program unit to read for the sake of looking.
    fn tick(&mut self, _view: &impl View, _move_it: impl FnMut(SuperblockId), _patrol: &mut Option<Pu>) {}

    /// True if code of the user's is to be asked now; asked for once.
    fn take_question(&mut self) -> bool {
        false
    }

    /// True if it waits for reads of sealed superblocks.
    fn watches_reads(&self) -> bool {
        false
    }

    /// True if it forecasts when a superblock will be bad, and has to look again.
    fn forecasts(&self) -> bool {
        false
    }

    /// A superblock at which its forecast wants to look again by now.
    fn next_look(&mut self, _now: Nanos) -> Option<SuperblockId> {
        None
    }

    /// True if sealed `superblock` is to be moved as it is.
    fn is_bad(&self, _view: &impl View, _superblock: SuperblockId) -> bool {
        false
    }

    /// Alarms of `superblock` are about to be set: [`Policy::alarm_at`] will be asked for each of its rows.
    fn arm(&mut self, _view: &impl View, _superblock: SuperblockId) {}

    /// At how many reads of `row` it wants to be told.
    fn alarm_at(&self, _row: &dyn RowReads) -> u32 {
        u32::MAX
    }

    /// An alarm of `block` has gone off: whether its superblock is to be moved.
    fn alarmed(&self, _view: &impl View, _block: BlockIndex) -> bool {
        false
    }

    /// Pages of `superblock` have been read again: whether it is to be moved.
    fn reread(&self, _view: &impl View, _superblock: SuperblockId) -> bool {
        false
    }

    /// The read that [`Policy::tick`] asked for has ended; `failed`: some of it had too many wrong bits. Whether the superblock is to be
    /// moved.
    fn patrolled(&mut self, _failed: bool) -> bool {
        false
    }

    /// True if the read that [`Policy::tick`] asked for is under way.
    fn is_patrolling(&self) -> bool {
        false
    }

    /// `superblock` has been erased.
    fn erased(&mut self, _superblock: SuperblockId) {}

    /// Power has failed: no read that was asked for will end.
    fn power_failed(&mut self) {}
}

macro_rules! policies {
    ($($(#[$meta:meta])* $setting:ident: $Setting:ty, $check:ident => $file:ident::$Policy:ident, $Reason:ident = $name:literal;)+) => {
        $(mod $file;)+

        /// The policies in force.
        #[derive(Clone, Debug, outlast_persist::Persist)]
        pub(super) struct Policies {
            $($setting: Option<$file::$Policy>,)+
        }

        impl Policies {
            pub(super) fn new(config: &ScrubConfig, superblocks: u32) -> Self {
                Self { $($setting: config.$setting.map(|setting| Policy::new(setting, superblocks)),)+ }
            }

            pub(super) fn begin(&mut self, now: Nanos) {
                $(if let Some(own) = &mut self.$setting {
                    own.begin(now);
                })+
            }

            pub(super) fn next(&self) -> Nanos {
                Nanos::MAX$(.min(self.$setting.as_ref().map_or(Nanos::MAX, Policy::next)))+
            }

            pub(super) fn tick(
                &mut self, view: &impl View, mut move_it: impl FnMut(SuperblockId, Reason), patrol: &mut Option<Pu>,
            ) {
                $(if let Some(own) = &mut self.$setting {
                    own.tick(view, |superblock| move_it(superblock, Reason::$Reason), patrol);
                })+
            }

            pub(super) fn take_question(&mut self) -> bool {
                false$(| self.$setting.as_mut().is_some_and(Policy::take_question))+
            }

            pub(super) fn watch_reads(&self) -> bool {
                false$(|| self.$setting.as_ref().is_some_and(Policy::watches_reads))+
            }

            pub(super) fn forecast(&self) -> bool {
                false$(|| self.$setting.as_ref().is_some_and(Policy::forecasts))+
            }

            pub(super) fn next_look(&mut self, now: Nanos) -> Option<SuperblockId> {
                None$(.or_else(|| self.$setting.as_mut()?.next_look(now)))+
            }

            pub(super) fn is_bad(&self, view: &impl View, superblock: SuperblockId) -> Option<Reason> {
                $(if self.$setting.as_ref().is_some_and(|own| own.is_bad(view, superblock)) {
                    return Some(Reason::$Reason);
                })+
                None
            }

            pub(super) fn arm(&mut self, view: &impl View, superblock: SuperblockId) {
                $(if let Some(own) = &mut self.$setting {
                    own.arm(view, superblock);
                })+
            }

            pub(super) fn alarm_at(&self, row: &dyn RowReads) -> u32 {
                u32::MAX$(.min(self.$setting.as_ref().map_or(u32::MAX, |own| own.alarm_at(row))))+
            }

            pub(super) fn alarmed(&self, view: &impl View, block: BlockIndex) -> Option<Reason> {
                $(if self.$setting.as_ref().is_some_and(|own| own.alarmed(view, block)) {
                    return Some(Reason::$Reason);
                })+
                None
            }

            pub(super) fn reread(&self, view: &impl View, superblock: SuperblockId) -> Option<Reason> {
                $(if self.$setting.as_ref().is_some_and(|own| own.reread(view, superblock)) {
                    return Some(Reason::$Reason);
                })+
                None
            }

            pub(super) fn patrolled(&mut self, failed: bool) -> Option<Reason> {
                let mut reason = None;
                $(if self.$setting.as_mut().is_some_and(|own| own.patrolled(failed)) {
                    reason = reason.or(Some(Reason::$Reason));
                })+
                reason
            }

            pub(super) fn is_patrolling(&self) -> bool {
                false$(|| self.$setting.as_ref().is_some_and(Policy::is_patrolling))+
            }

            pub(super) fn erased(&mut self, superblock: SuperblockId) {
                $(if let Some(own) = &mut self.$setting {
                    own.erased(superblock);
                })+
            }

            pub(super) fn power_failed(&mut self) {
                $(if let Some(own) = &mut self.$setting {
                    own.power_failed();
                })+
            }
        }
    };
}

outlast_settings::scrub_policies!(policies);
