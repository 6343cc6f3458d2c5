//! Checks of settings, and how they go together.

use super::{ArrayConfig, BackgroundConfig, Consistency, Level, MEMBERS_MAX};
use outlast_decisions::RepairWay;
use outlast_media::ConfigError;
use outlast_units::{Bytes, Nanos, SECTOR_BYTES};

impl ArrayConfig {
    /// Checks every setting and how they go together.
    ///
    /// # Errors
    /// The first setting that cannot work.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.validate_shape()?;
        self.validate_placement()?;
        self.validate_redundant()?;
        let least = Bytes(2 * (self.chunk.0 + 4096));
        let logged = self.consistency.keeps_records();
        if logged && (self.log.size < least || !self.log.size.0.is_multiple_of(SECTOR_BYTES)) {
            let limit =
                format!("must be a multiple of 512 bytes and at least {least}, two records of a chunk");
            return Err(ConfigError::new("array.log.size", self.log.size, limit));
        }
        if self.log.bitmap_chunk.0 == 0 {
            return Err(ConfigError::new("array.log.bitmap_chunk", self.log.bitmap_chunk, "must be above 0"));
        }
        self.background.validate()?;
        self.repair.validate()?;
        if self.own.repair_order.is_some() && self.repair.way != RepairWay::Die {
            let limit = "must be die where policies.repair_order is given";
            return Err(ConfigError::new("array.repair.way", self.repair.way.name(), limit));
        }
        if let Some(limit) = self.replacement.limit_percent
            && !(limit > 0.0 && limit <= 1e6)
        {
            let message = "must be above 0 and at most 1000000";
            return Err(ConfigError::new("array.replacement.limit_percent", limit, message));
        }
        self.validate_members()?;
        let Some(light) = &self.light else { return Ok(()) };
        let differs =
            |device| self.member(device).is_some_and(|own| own.pe_cycles.is_some() || own.capacity.is_some());
        light.validate(self.members, self.spares, differs)
    }

    /// Checks that nothing is asked for that needs parity or copies which the level does not have.
    fn validate_redundant(&self) -> Result<(), ConfigError> {
        let (level, name) = (self.level.name(), self.consistency.name());
        let has_copies = self.redundancy() != 0;
        if !has_copies && self.consistency != Consistency::Resync {
            let limit = format!(
                "must be resync for level {level}: without parity or copies nothing can be inconsistent"
            );
            return Err(ConfigError::new("array.consistency", name, limit));
        }
        if self.consistency.keeps_records() && !self.has_parity() {
            let limit = format!("must be resync or bitmap for level {level}, which has no parity");
            return Err(ConfigError::new("array.consistency", name, limit));
        }
        if let Some(interval) = self.background.scrub_interval.filter(|_| !has_copies) {
            let limit = format!(
                "must be absent for level {level}: without parity or copies there is nothing to compare"
            );
            return Err(ConfigError::new("array.background.scrub_interval", interval, limit));
        }
        Ok(())
    }

    fn validate_members(&self) -> Result<(), ConfigError> {
        for (index, member) in self.member.iter().enumerate() {
            let refuse = |name: &str, value: &dyn std::fmt::Display, limit: String| {
                Err(ConfigError::new(&format!("array.member[{index}].{name}"), value, limit))
            };
            if member.device >= self.devices() {
                let limit = format!("must be less than {}, members and spares", self.devices());
                return refuse("device", &member.device, limit);
            }
            if self.member[..index].iter().any(|before| before.device == member.device) {
                return refuse("device", &member.device, "is given twice".to_owned());
            }
            if let (Some(at), true) = (member.fail_at, member.device >= self.members) {
                return refuse("fail_at", &at, "is for members; this is a spare".to_owned());
            }
        }
        Ok(())
    }

    fn validate_shape(&self) -> Result<(), ConfigError> {
        match (self.level, self.parities) {
            (Level::Code, None | Some(0)) => {
                let limit = "must be at least 1 for level code";
                return Err(ConfigError::new("array.parities", self.parities.unwrap_or(0), limit));
            }
            (Level::Code, Some(parities)) if usize::from(parities) >= MEMBERS_MAX => {
                let limit = format!("must be below {MEMBERS_MAX}, the most members");
                return Err(ConfigError::new("array.parities", parities, limit));
            }
            (level, Some(parities)) if level != Level::Code => {
                let limit = format!("is for level code; {} has {}", level.name(), self.redundancy());
                return Err(ConfigError::new("array.parities", parities, limit));
            }
            _ => {}
        }
        let least = match self.level {
            Level::Raid0 => 1,
            Level::Raid1 => 2,
            Level::Raid10 if self.copies < 2 => {
                return Err(ConfigError::new("array.copies", self.copies, "must be at least 2"));
            }
            Level::Raid10 => self.copies,
            _ => self.redundancy() + 1,
        };
        if self.members < least || usize::from(self.members) > MEMBERS_MAX {
            let limit = format!("must be between {least} and {MEMBERS_MAX} for level {}", self.level.name());
            return Err(ConfigError::new("array.members", self.members, limit));
        }
        if usize::from(self.spares) > MEMBERS_MAX {
            let limit = format!("must be at most {MEMBERS_MAX}");
            return Err(ConfigError::new("array.spares", self.spares, limit));
        }
        if self.chunk.0 == 0 || !self.chunk.0.is_multiple_of(SECTOR_BYTES) || self.chunk > Bytes::gib(1) {
            let limit = "must be a multiple of 512 bytes, above 0 and at most 1GiB";
            return Err(ConfigError::new("array.chunk", self.chunk, limit));
        }
        Ok(())
    }

    fn validate_placement(&self) -> Result<(), ConfigError> {
        if let Some(table) = &self.table {
            self.validate_table(table)?;
        }
        let Some(percent) = &self.parity_percent else { return Ok(()) };
        let value = format!("{percent:?}");
        if !self.has_parity() || self.level == Level::Raid4 {
            let limit = format!("is for levels raid5, raid6 and code, not {}", self.level.name());
            return Err(ConfigError::new("array.parity_percent", value, limit));
        }
        if percent.len() != usize::from(self.members) {
            let limit = format!("must have one percentage for each of the {} members", self.members);
            return Err(ConfigError::new("array.parity_percent", value, limit));
        }
        self.shares().map(|_| ())
    }

    fn validate_table(&self, table: &[Vec<u8>]) -> Result<(), ConfigError> {
        let refused =
            |value: &dyn std::fmt::Display, limit: &str| Err(ConfigError::new("array.table", value, limit));
        let stripes = format!("{} stripes", table.len());
        if !self.has_parity() || self.level == Level::Raid4 {
            return refused(
                &stripes,
                &format!("is for levels raid5, raid6 and code, not {}", self.level.name()),
            );
        }
        if self.parity_percent.is_some() {
            return refused(&stripes, "excludes array.parity_percent: both say where parity lies");
        }
        if table.is_empty() || table.len() > TABLE_MAX {
            return refused(&stripes, &format!("must be between 1 and {TABLE_MAX} stripes"));
        }
        for (stripe, columns) in table.iter().enumerate() {
            let mut sorted = columns.clone();
            sorted.sort_unstable();
            if !sorted.iter().copied().eq(0..self.members as u8) {
                let limit = format!("each stripe must name each of the {} members once", self.members);
                return Err(ConfigError::new(
                    &format!("array.table[{stripe}]"),
                    format!("{columns:?}"),
                    limit,
                ));
            }
        }
        Ok(())
    }
}

/// Stripes of a table at most.
const TABLE_MAX: usize = 1 << 16;

impl BackgroundConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        if self.window == 0 || self.window > 64 {
            return Err(ConfigError::new("array.background.window", self.window, "must be between 1 and 64"));
        }
        if let (Some(min), Some(max)) = (self.min_rate, self.max_rate)
            && min.bytes_per_s() > max.bytes_per_s()
        {
            let limit = format!("must be at most array.background.max_rate, {max}");
            return Err(ConfigError::new("array.background.min_rate", min, limit));
        }
        if let Some(own) = self.own
            && !(Nanos::micros(10)..=Nanos::secs(3600)).contains(&own)
        {
            return Err(ConfigError::new("array.background.own", own, "must be between 10us and 1h"));
        }
        Ok(())
    }
}
