//! Checks of the settings of parity, and how they go together.

use super::{ClassConfig, CodeConfig, PartialPlace, ProtectionConfig, RangeConfig};
use crate::ftl::CodeRule;
use outlast_media::{ConfigError, Geometry};
use outlast_units::{Bytes, SECTOR_BYTES};

impl ProtectionConfig {
    fn check_rebuild(&self) -> Result<(), ConfigError> {
        if self.rebuild_every == Some(0) {
            return Err(ConfigError::new("device.protection.rebuild_every", 0, "must be between 1 and 255"));
        }
        let needs = "needs device.protection.rebuild = true";
        match (self.rebuild, self.rebuild_bandwidth, self.rebuild_every) {
            (false, Some(rate), _) => {
                Err(ConfigError::new("device.protection.rebuild_bandwidth", rate, needs))
            }
            (false, _, Some(every)) => Err(ConfigError::new("device.protection.rebuild_every", every, needs)),
            _ => Ok(()),
        }
    }

    /// Checks the settings by themselves.
    ///
    /// # Errors
    /// The first setting that is out of range; classes that ask for the same data; a class that nothing ever belongs to.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let plain = CodeConfig { data: self.data, parity: self.parity, block: self.block };
        plain.validate("device.protection")?;
        self.check_rebuild()?;
        self.check_rules()?;
        if self.classes.is_empty() && self.code(0).parity == 0 && self.block.is_none() {
            let limit = "must be at least 1, unless there is a code within blocks or classes have parity";
            return Err(ConfigError::new("device.protection.parity", 0, limit));
        }
        if self.classes.len() > 16 {
            let limit = "at most 16 classes have streams of their own";
            return Err(ConfigError::new("device.protection.classes", self.classes.len(), limit));
        }
        if self.default_class >= self.class_count() {
            let limit = format!("must be below the number of classes, {}", self.class_count());
            return Err(ConfigError::new("device.protection.default_class", self.default_class, limit));
        }
        for (number, class) in (0u8..).zip(&self.classes) {
            let at = format!("device.protection.classes[{number}]");
            self.plain_code(number).validate(&at)?;
            class.validate(&at)?;
            let asks = !class.hints.is_empty()
                || !class.ranges.is_empty()
                || class.at_least.is_some()
                || class.at_most.is_some()
                || class.hot.is_some();
            if !asks && number != self.default_class {
                let limit =
                    "has no stream: give hints, ranges, at_least, at_most or hot, or make it default_class";
                return Err(ConfigError::new(&at, "a class that nothing ever belongs to", limit));
            }
        }
        self.check_overlaps()
    }

    /// What `device.protection` calls the rules of class `class`.
    pub fn rules_at(&self, class: u8) -> String {
        match self.classes.get(usize::from(class)) {
            Some(ClassConfig { codes: Some(_), .. }) => format!("device.protection.classes[{class}].codes"),
            _ => "device.protection.codes".to_owned(),
        }
    }

    fn check_rules(&self) -> Result<(), ConfigError> {
        for class in 0..self.class_count() {
            let (mut before, at) = (self.plain_code(class), self.rules_at(class));
            for (index, rule) in self.rules(class).iter().enumerate() {
                rule.validate(&format!("{at}[{index}]"), before)?;
                before = rule.code(before.block);
            }
        }
        Ok(())
    }

    /// Checks that rules look only at what the drive tells; `errs`: its flash errs.
    ///
    /// # Errors
    /// The first rule that looks at errors of flash without any.
    pub fn check_figures(&self, errs: bool) -> Result<(), ConfigError> {
        for class in 0..self.class_count() {
            let needs = |rule: &&CodeRule| rule.needs_errors() && !errs;
            if let Some(index) = self.rules(class).iter().position(|rule| needs(&rule)) {
                let at = format!("{}[{index}]", self.rules_at(class));
                let limit = "looks at errors of flash, and there are none: needs device.reliability";
                return Err(ConfigError::new(&at, "expected_errors or rereads", limit));
            }
        }
        Ok(())
    }

    fn check_overlaps(&self) -> Result<(), ConfigError> {
        let mut ranges: Vec<(RangeConfig, String)> = Vec::new();
        let mut hints: Vec<u16> = Vec::new();
        for (number, class) in self.classes.iter().enumerate() {
            for (index, &range) in class.ranges.iter().enumerate() {
                ranges.push((range, format!("device.protection.classes[{number}].ranges[{index}]")));
            }
            for &hint in &class.hints {
                if hints.contains(&hint) {
                    let at = format!("device.protection.classes[{number}].hints");
                    return Err(ConfigError::new(&at, hint, "is asked for twice"));
                }
                hints.push(hint);
            }
        }
        ranges.sort_by_key(|(range, _)| range.from.0);
        for pair in ranges.windows(2) {
            let [(before, name), (after, at)] = pair else { continue };
            if after.from.0 < before.to.0 {
                let limit = format!("overlaps {name}, which ends at {}", before.to);
                return Err(ConfigError::new(at, after.from, limit));
            }
        }
        Ok(())
    }

    /// Checks what depends on the drive: ranges within its capacity.
    ///
    /// # Errors
    /// The first range that does not lie in it.
    pub fn check_capacity(&self, capacity: Bytes) -> Result<(), ConfigError> {
        for (number, class) in self.classes.iter().enumerate() {
            for (index, range) in class.ranges.iter().enumerate() {
                if range.to > capacity {
                    let at = format!("device.protection.classes[{number}].ranges[{index}].to");
                    let limit = format!("must be at most the capacity of the drive, {capacity}");
                    return Err(ConfigError::new(&at, range.to, limit));
                }
            }
        }
        Ok(())
    }

    /// Checks that the parity cache holds the parity of every stripe that may be open at once.
    ///
    /// # Errors
    /// A cache that is smaller, with what it takes.
    pub fn check_cache(
        &self,
        geometry: &Geometry,
        open_parities: u64,
        pu_bytes: u64,
    ) -> Result<(), ConfigError> {
        let needed = Bytes(open_parities * pu_bytes);
        if self.partial.place == PartialPlace::Cache && self.partial.cache < needed {
            let limit = format!(
                "must hold the parity of every open stripe, {needed}: {open_parities} program units of {} on {} dies",
                Bytes(pu_bytes),
                geometry.dies()
            );
            return Err(ConfigError::new("device.protection.partial.cache", self.partial.cache, limit));
        }
        Ok(())
    }
}

impl ClassConfig {
    fn validate(&self, at: &str) -> Result<(), ConfigError> {
        for (index, range) in self.ranges.iter().enumerate() {
            let at = format!("{at}.ranges[{index}]");
            for (field, edge) in [("from", range.from), ("to", range.to)] {
                if !edge.0.is_multiple_of(SECTOR_BYTES) {
                    return Err(ConfigError::new(
                        &format!("{at}.{field}"),
                        edge,
                        "must be a multiple of 512",
                    ));
                }
            }
            if range.to <= range.from {
                let limit = format!("must be above from, {}", range.from);
                return Err(ConfigError::new(&format!("{at}.to"), range.to, limit));
            }
        }
        if let Some(hot) = self.hot.filter(|hot| !(hot.is_finite() && *hot > 0.0)) {
            return Err(ConfigError::new(&format!("{at}.hot"), hot, "must be a number above 0"));
        }
        if let (Some(least), Some(most)) = (self.at_least, self.at_most)
            && least > most
        {
            let limit = format!("must be at most at_most, {most}");
            return Err(ConfigError::new(&format!("{at}.at_least"), least, limit));
        }
        Ok(())
    }
}
