//! Shutdowns that a drive was told of before power was lost.

/// What a drive knows of the shutdowns that it was told of.
#[derive(Clone, Copy, Debug, Default, outlast_persist::Persist)]
pub(crate) struct Shutdowns {
    /// Those that power was lost after.
    safe: u64,
    /// It has been told of one.
    told: bool,
}

impl Shutdowns {
    /// The host announces that it will switch the power off.
    pub(crate) fn announce(&mut self) {
        self.told = true;
    }

    /// Power is lost.
    pub(crate) fn power_failed(&mut self) {
        self.safe += u64::from(std::mem::take(&mut self.told));
    }

    /// Losses of power that had been announced.
    pub(crate) fn safe(&self) -> u64 {
        self.safe
    }
}
