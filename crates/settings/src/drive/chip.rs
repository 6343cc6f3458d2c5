//! Which chip a drive is made of, and what temperature makes of it.

use super::ReliabilityConfig;
use super::reliability::FIELD;
use outlast_media::ConfigError;
use outlast_media::reliability::measured::FitSettings;
use outlast_media::reliability::{
    ACTIVATION_ENERGY, ModelRange, PageTypes, RberModel, acceleration, chip, chips,
};
use std::borrow::Cow;

/// Whether what `chip` names is a file of measurements.
pub fn is_chip_file(chip: &str) -> bool {
    let bytes = chip.as_bytes();
    bytes.len() > 4 && bytes[bytes.len() - 4..].eq_ignore_ascii_case(b".csv")
}

impl ReliabilityConfig {
    /// The path of a chip's file, if `chip` is one.
    pub fn chip_file(&self) -> Option<&str> {
        self.chip.as_deref().filter(|name| is_chip_file(name))
    }

    /// How a chip's file is to be read.
    pub fn reading(&self) -> FitSettings {
        FitSettings {
            fit: self.fit.unwrap_or_default(),
            activation_energy: self.activation_energy.unwrap_or(ACTIVATION_ENERGY),
            reference: self.reference_temperature,
        }
    }

    /// The error rates asked for, at the temperature asked for.
    ///
    /// # Errors
    /// Neither or both of `chip` and `model` are given, the chip is unknown, or its file has not been read.
    pub fn rber_model(&self) -> Result<Cow<'_, RberModel>, ConfigError> {
        let model = self.model_as_given()?;
        let factor = self.time_factor()?;
        Ok(match self.temperature {
            Some(_) => Cow::Owned(model.accelerated(factor)),
            None => Cow::Borrowed(model),
        })
    }

    /// How page types differ: as set, or as the chip's file says.
    pub fn page_types(&self) -> Option<&PageTypes> {
        self.page_types
            .as_ref()
            .or_else(|| self.measured.as_ref().and_then(|measured| measured.page_types.as_ref()))
    }

    /// Where the chip's error rates are known; `None` of a model of one's own.
    pub fn range(&self) -> Option<ModelRange> {
        let published = || chip(self.chip.as_deref()?).map(|chip| chip.range);
        self.measured.as_ref().map(|measured| measured.range).or_else(published)
    }

    fn model_as_given(&self) -> Result<&RberModel, ConfigError> {
        let refuse =
            |value: &str, limit: String| Err(ConfigError::new("device.reliability.chip", value, limit));
        match (&self.chip, &self.model) {
            (Some(name), None) => match (self.chip_file(), &self.measured, chip(name)) {
                (Some(_), Some(measured), _) => Ok(&measured.model),
                (Some(_), None, _) => {
                    refuse(name, "is a file, which only loading a scenario reads".to_owned())
                }
                (None, _, Some(chip)) => Ok(&chip.model),
                (None, _, None) => {
                    let known: Vec<&str> = chips().iter().map(|chip| chip.name).collect();
                    refuse(name, format!("must be one of {}, or a file that ends in .csv", known.join(", ")))
                }
            },
            (None, Some(model)) => Ok(model),
            (Some(name), Some(_)) => refuse(name, "give either chip or model, not both".to_owned()),
            (None, None) => refuse("absent", "give chip or model".to_owned()),
        }
    }

    /// The temperature that the chip's times are of, if it is known.
    fn reference(&self) -> Option<f64> {
        let of_chip = || chip(self.chip.as_deref()?)?.reference_temperature;
        self.measured
            .as_ref()
            .and_then(|measured| measured.reference)
            .or(self.reference_temperature)
            .or_else(of_chip)
    }

    /// By how much time counts for retention.
    ///
    /// # Errors
    /// `temperature` is given, and nothing says what temperature the chip's times are of.
    pub fn time_factor(&self) -> Result<f64, ConfigError> {
        let Some(temperature) = self.temperature else { return Ok(1.0) };
        let Some(reference) = self.reference() else {
            let limit =
                "must be given with temperature: the chip does not say what temperature its times are of";
            return Err(ConfigError::new(&format!("{FIELD}.reference_temperature"), "absent", limit));
        };
        Ok(acceleration(self.reading().activation_energy, reference, temperature))
    }

    pub(super) fn check_temperatures(&self) -> Result<(), ConfigError> {
        let limits = [
            ("temperature", self.temperature, -100.0, 300.0),
            ("reference_temperature", self.reference_temperature, -100.0, 300.0),
            ("activation_energy", self.activation_energy, 0.0, 3.0),
        ];
        for (name, value, low, high) in limits {
            if let Some(value) = value.filter(|value| !(low..=high).contains(value)) {
                let limit = format!("must be between {low} and {high}");
                return Err(ConfigError::new(&format!("{FIELD}.{name}"), value, limit));
            }
        }
        Ok(())
    }

    pub(super) fn check_chip_file(&self) -> Result<(), ConfigError> {
        if let (Some(fit), None) = (self.fit, self.chip_file()) {
            let limit = "must be absent unless chip is a file that ends in .csv";
            return Err(ConfigError::new(&format!("{FIELD}.fit"), fit, limit));
        }
        if let Some(measured) = &self.measured {
            if self.page_types.is_some() && measured.page_types.is_some() {
                let limit = "must be absent: the chip's file says how its page types differ";
                return Err(ConfigError::new(&format!("{FIELD}.page_types"), "given", limit));
            }
            if !self.chip_file().is_some_and(|file| measured.is_result_of(file, &self.reading())) {
                let limit = "is not to be written by hand: must be what loading made of chip";
                return Err(ConfigError::new(&format!("{FIELD}.measured"), &measured.of, limit));
            }
        }
        Ok(())
    }
}
