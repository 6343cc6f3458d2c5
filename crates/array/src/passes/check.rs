//! Checks of restored passes.

use super::{AHEAD, BackgroundPasses};
use outlast_settings::array::BackgroundConfig;

impl BackgroundPasses {
    /// Checks restored state against the settings and `groups` groups: a pass is where its bits say; `mismatches`: all that were counted.
    pub(crate) fn check(
        &self,
        settings: &BackgroundConfig,
        groups: u64,
        mismatches: u64,
    ) -> Result<(), String> {
        if (self.window, self.scrub_interval) != (settings.groups_at_once(), settings.scrub_interval) {
            return Err("work in the background is not as the settings say".to_owned());
        }
        if self.epoch.0 > 1 << 31 {
            return Err(format!("{} passes have begun", self.epoch));
        }
        if let Some(scrub) = self.scrub
            && (scrub.base.0 > groups || scrub.mismatches_before > mismatches)
        {
            return Err(format!("a scrub is at group {} of {groups}", scrub.base));
        }
        let Some(pass) = &self.under_way else { return Ok(()) };
        let ahead = pass.next.0.checked_sub(pass.base.0).filter(|&ahead| ahead <= AHEAD);
        let bits = ahead.and_then(|ahead| u32::try_from(ahead).ok());
        let is_ahead = bits.is_some_and(|bits| pass.done.checked_shr(bits).unwrap_or(0) == 0);
        if pass.next.0 <= groups && is_ahead {
            Ok(())
        } else {
            Err(format!("a pass is at group {} to {} of {groups}", pass.base, pass.next))
        }
    }
}
