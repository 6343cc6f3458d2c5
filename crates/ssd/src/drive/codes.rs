//! Changes of code and of dies while data is live.

use crate::ssd::Ssd;
use outlast_controller::Due;
use outlast_media::ConfigError;
use outlast_settings::ftl::CodeConfig;
use outlast_units::{CoreId, DieId, Nanos};

impl Ssd {
    /// From now on data of class `class` is written with code `code`. What has the old one keeps it until it is moved: by collection,
    /// which takes it first, or by scrubbing with `reprotect`.
    ///
    /// # Errors
    /// No such class; a code that does not suit the dies, or leaves too little room for the user data: then nothing has changed.
    pub fn set_code(&mut self, now: Nanos, class: u8, code: CodeConfig) -> Result<(), ConfigError> {
        self.change_code(now, class, code)?;
        self.settle(now);
        Ok(())
    }

    /// [`Ssd::set_code`] as an effect of an event, after which the drive settles.
    pub(crate) fn change_code(&mut self, now: Nanos, class: u8, code: CodeConfig) -> Result<(), ConfigError> {
        let classes = self.cores[CoreId(0)].ftl().streams().classes();
        if self.context.config.protection.is_none() {
            let limit = "a drive without device.protection has no parity to change";
            return Err(ConfigError::new("class", class, limit));
        }
        if class >= classes {
            let limit = format!("must be below the number of classes, {classes}");
            return Err(ConfigError::new("class", class, limit));
        }
        let before = self.cores[CoreId(0)].ftl().parity().code(class);
        for core in self.cores.indices() {
            if let Err(error) = self.cores[core].ftl_mut().set_code(class, code) {
                for done in self.cores.iter_mut().take(core.index()) {
                    // The class had this code a moment ago.
                    let restored = done.ftl_mut().set_code(class, before);
                    debug_assert!(restored.is_ok(), "the code of before fits");
                }
                return Err(error);
            }
        }
        for core in self.cores.indices() {
            self.cores[core].reprotect_all(now, &mut self.context);
            self.cores[core].make_due(&mut self.context, Due::Collect);
        }
        Ok(())
    }

    /// The code that class `class` has now.
    pub fn code(&self, class: u8) -> CodeConfig {
        self.cores[CoreId(0)].ftl().parity().code(class)
    }

    /// Classes of protection; one where there are none.
    pub fn classes(&self) -> u8 {
        self.cores[CoreId(0)].ftl().streams().classes()
    }

    /// Superblocks that still have a code which is no longer that of their class, and all that hold data.
    pub fn encoding_progress(&self) -> (u32, u32) {
        self.cores
            .iter()
            .map(|core| core.ftl().parity().outdated())
            .fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1))
    }

    /// Pages of user data that lie in superblocks of class `class`.
    pub fn pages_of_class(&self, class: u8) -> u64 {
        let of = |core: &outlast_controller::FlashCore| {
            let ftl = core.ftl();
            let superblocks = (0..ftl.layout().superblocks()).map(outlast_units::SuperblockId);
            let own = superblocks.filter(|&superblock| ftl.superblock(superblock).class() == class);
            own.map(|superblock| u64::from(ftl.superblock(superblock).valid())).sum::<u64>()
        };
        let units: u64 = self.cores.iter().map(of).sum();
        (units * self.context.config.ftl.mapping_unit.0).div_ceil(self.context.config.geometry.page_size.0)
    }

    /// Units of partial parity written again because the superblock that held it was full, over the drive's life.
    pub fn covers_moved(&self) -> u64 {
        self.cores.iter().map(|core| core.ftl().figures().covers_moved).sum()
    }

    /// A die that was [absent](crate::SsdConfig::absent_dies) is there: data written from now on lies on it, too.
    ///
    /// # Errors
    /// No such die, or one that is there already.
    pub fn add_die(&mut self, now: Nanos, die: DieId) -> Result<(), ConfigError> {
        self.join_die(now, die)?;
        self.settle(now);
        Ok(())
    }

    /// [`Ssd::add_die`] as an effect of an event, after which the drive settles.
    pub(crate) fn join_die(&mut self, now: Nanos, die: DieId) -> Result<(), ConfigError> {
        let dies = self.context.places.len();
        if die.index() >= dies {
            let limit = format!("must be below the number of dies, {dies}");
            return Err(ConfigError::new("die", die.0, limit));
        }
        let Some(place) = self.context.absent.iter().position(|&absent| absent == die) else {
            return Err(ConfigError::new("die", die.0, "is there already"));
        };
        self.context.absent.remove(place);
        let (core, local) = self.context.core_of_die(die);
        self.cores[core].ftl_mut().add_die(local);
        self.cores[core].reprotect_all(now, &mut self.context);
        self.cores[core].make_due(&mut self.context, Due::Admit);
        Ok(())
    }
}
