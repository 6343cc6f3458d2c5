//! Which chip a drive is made of, and what temperature makes of it.

use super::ReliabilityConfig;
use super::reliability::FIELD;
use outlast_media::ConfigError;
use outlast_media::reliability::measured::{FitSettings, MeasuredChip};
use outlast_media::reliability::{
    ACTIVATION_ENERGY, ModelRange, PageTypes, RberModel, acceleration, chip, chips,
};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// True if `chip` names a file of measurements.
pub fn is_chip_file(chip: &str) -> bool {
    let bytes = chip.as_bytes();
    bytes.len() > 4 && bytes[bytes.len() - 4..].eq_ignore_ascii_case(b".csv")
}

/// The value of `device.reliability.chip`.
#[derive(Clone, Debug, PartialEq)]
pub enum ChipChoice {
    /// A published chip, or a file of measurements that has not been read.
    Named(String),
    /// The chip that loading made of a file.
    Fitted(Box<MeasuredChip>),
}

impl ChipChoice {
    /// The published chip, or the path of the file.
    pub fn name(&self) -> &str {
        match self {
            Self::Named(name) => name,
            Self::Fitted(fitted) => &fitted.file,
        }
    }

    /// The fit, of a file that has been read.
    pub fn fitted(&self) -> Option<&MeasuredChip> {
        match self {
            Self::Named(_) => None,
            Self::Fitted(fitted) => Some(fitted),
        }
    }
}

impl From<&str> for ChipChoice {
    fn from(name: &str) -> Self {
        Self::Named(name.to_owned())
    }
}

impl Serialize for ChipChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Named(name) => serializer.serialize_str(name),
            Self::Fitted(fitted) => fitted.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ChipChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Given;
        impl<'de> Visitor<'de> for Given {
            type Value = ChipChoice;

            fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
                text.write_str("the name of a chip or a file in quotes, or the table of a fitted chip")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<ChipChoice, E> {
                Ok(ChipChoice::from(name))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ChipChoice, A::Error> {
                MeasuredChip::deserialize(MapAccessDeserializer::new(map))
                    .map(|fitted| ChipChoice::Fitted(fitted.into()))
            }
        }
        deserializer.deserialize_any(Given)
    }
}

outlast_units::schema_of!(ChipChoice, { "anyOf": [
    { "type": "string", "description": "A published chip, or a file that ends in .csv." },
    { "type": "object", "description": "The fitted chip of a resolved scenario, which loading writes." },
] });

impl ReliabilityConfig {
    /// The path of a chip's file, if `chip` is one.
    pub fn chip_file(&self) -> Option<&str> {
        self.chip.as_ref().map(ChipChoice::name).filter(|name| is_chip_file(name))
    }

    fn fitted(&self) -> Option<&MeasuredChip> {
        self.chip.as_ref().and_then(ChipChoice::fitted)
    }

    /// The published chip, if `chip` is one.
    fn published(&self) -> Option<&'static outlast_media::reliability::PublishedChip> {
        chip(self.chip.as_ref()?.name())
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
        self.page_types.as_ref().or_else(|| self.fitted().and_then(|fitted| fitted.page_types.as_ref()))
    }

    /// Where the chip's error rates are known; `None` of a model of one's own.
    pub fn range(&self) -> Option<ModelRange> {
        self.fitted().map(|fitted| fitted.range).or_else(|| self.published().map(|chip| chip.range))
    }

    fn model_as_given(&self) -> Result<&RberModel, ConfigError> {
        let refuse =
            |value: &str, limit: String| Err(ConfigError::new("device.reliability.chip", value, limit));
        match (&self.chip, &self.model) {
            (Some(ChipChoice::Fitted(fitted)), None) => Ok(&fitted.model),
            (Some(ChipChoice::Named(name)), None) if is_chip_file(name) => {
                refuse(name, "is a file, which only loading a scenario reads".to_owned())
            }
            (Some(ChipChoice::Named(name)), None) => chip(name).map(|chip| &chip.model).map_or_else(
                || {
                    let known: Vec<&str> = chips().iter().map(|chip| chip.name).collect();
                    refuse(name, format!("must be one of {}, or a file that ends in .csv", known.join(", ")))
                },
                Ok,
            ),
            (None, Some(model)) => Ok(model),
            (Some(chip), Some(_)) => refuse(chip.name(), "give either chip or model, not both".to_owned()),
            (None, None) => refuse("absent", "give chip or model".to_owned()),
        }
    }

    /// The temperature that the chip's times are of, if it is known.
    fn reference(&self) -> Option<f64> {
        self.fitted()
            .and_then(|fitted| fitted.temperature)
            .or(self.reference_temperature)
            .or_else(|| self.published()?.reference_temperature)
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
        if let Some(fitted) = self.fitted() {
            if self.page_types.is_some() && fitted.page_types.is_some() {
                let limit = "must be absent: the chip's file says how its page types differ";
                return Err(ConfigError::new(&format!("{FIELD}.page_types"), "given", limit));
            }
            if !is_chip_file(&fitted.file) || !fitted.is_read_as(&self.reading()) {
                let limit = "is not to be written by hand: must be what loading made of a chip's file";
                return Err(ConfigError::new(&format!("{FIELD}.chip"), &fitted.file, limit));
            }
        }
        Ok(())
    }
}
