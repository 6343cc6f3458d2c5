//! Settings of bit errors, and of what reading does about them.

use super::ChipChoice;
use outlast_media::reliability::measured::FitForm;
use outlast_media::reliability::{
    BlockVariation, Ecc, ExponentialRber, PageTypes, PowerLaw, RberModel, RereadConfig,
};
use outlast_media::{ConfigError, Geometry, InitialState, ReadScope};
use outlast_units::{Bytes, JsonSchema};
use serde::{Deserialize, Deserializer, Serialize};

/// How the flash errs and what reading does about it. Independence assumed: bits err independently at their page's rate, and pages
/// fail independently given their rates; what is shared (wear, age, reads, the block's factor) is shared through the rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReliabilityConfig {
    /// A published chip, such as `tlc-72-layer`, whose error rates and their source are known (`outlast chips` lists them), or the path of
    /// a CSV file of measurements of your own, such as `mine.csv`: one that ends in `.csv`. Loading fits the file, and the resolved scenario
    /// has a table here, the fitted chip, with which the file is not read again. Give this or `model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chip: Option<ChipChoice>,
    /// A law of your own for the error rates; measured ones are the file of a `chip`. Give this or `chip`.
    #[serde(deserialize_with = "read_law", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<RberLaw>")]
    pub model: Option<RberModel>,
    /// The curve fitted to a chip's file. Default: `power-law`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<FitForm>,
    /// °C at which data is kept: time counts for retention as Arrhenius' law says beside `reference_temperature`. -100 to 300. Absent: the
    /// chip's times are taken as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// °C that the chip's times of retention are of. -100 to 300. Default: the chip's own; of a file, that of its rows, the lowest if there are
    /// several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_temperature: Option<f64>,
    /// Activation energy of charge loss in electronvolts, for `temperature` and for rows of a chip's file at several temperatures. 0 to 3.
    /// Default: 1.1 (JEDEC JESD218 and JESD47).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activation_energy: Option<f64>,
    /// What a read disturbs. Default: its block.
    pub read_scope: ReadScope,
    /// Whether reads that move data, for collection, wear levelling and scrubbing, disturb, too. HRM does not say how they count. Default:
    /// true.
    pub collection_disturbs: bool,
    /// Which codewords of a mapping unit a read for the host decodes: `all`, or `one`, as if it had asked for no more than a codeword
    /// holds. Reads by the drive itself decode all. Default: `all`.
    pub codewords_checked: CodewordsChecked,
    /// The error-correcting code.
    pub ecc: Ecc,
    /// Re-reads after the code has failed.
    pub rereads: RereadConfig,
    /// Re-reads of data that has parity across dies before it is rebuilt from its stripe (HRM's conditional re-reads); the rest of
    /// `rereads.max_retries` comes after the stripe has failed. Absent: all re-reads come first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rereads_if_protected: Option<u32>,
    /// Re-reads of a read that is sent with limited retry (bit LR of `NVMe`'s Read) before it ends in an error; no stripe is asked, and the data stays
    /// readable by other reads. An array sends such reads with `array.limited_retry`, `outlast.Drive.read` with `limited_retry=True`. Default: 0.
    pub limited_retries: u32,
    /// Whether the first read of a block uses the step that last succeeded there (until its next erase). Default: false.
    pub reread_history: bool,
    /// State of the flash at the beginning of the run.
    pub initial: InitialState,
    /// How blocks differ.
    pub variation: BlockVariation,
    /// How page types differ; absent: not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_types: Option<PageTypes>,
}

impl Default for ReliabilityConfig {
    fn default() -> Self {
        Self {
            chip: None,
            model: None,
            fit: None,
            temperature: None,
            reference_temperature: None,
            activation_energy: None,
            read_scope: ReadScope::default(),
            collection_disturbs: true,
            codewords_checked: CodewordsChecked::default(),
            ecc: Ecc::default(),
            rereads: RereadConfig::default(),
            rereads_if_protected: None,
            limited_retries: 0,
            reread_history: false,
            initial: InitialState::default(),
            variation: BlockVariation::default(),
            page_types: None,
        }
    }
}

/// How the raw bit error rate grows with wear, retention and reads.
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "form", rename_all = "kebab-case")]
enum RberLaw {
    /// Sum of power laws of cycles, days and reads (HRM, Equation 1).
    PowerLaw(PowerLaw),
    /// `a·e^(b·cycles)` (mSAPL, Equation 1): no retention, no disturbance.
    Exponential(ExponentialRber),
}

fn read_law<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<RberModel>, D::Error> {
    Ok(Option::<RberLaw>::deserialize(deserializer)?.map(|law| match law {
        RberLaw::PowerLaw(law) => RberModel::PowerLaw(law),
        RberLaw::Exponential(law) => RberModel::Exponential(law),
    }))
}

/// Which codewords of a mapping unit a read for the host decodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CodewordsChecked {
    /// All of the unit.
    #[default]
    All,
    /// One of them.
    One,
}

pub(super) const FIELD: &str = "device.reliability";

impl ReliabilityConfig {
    /// Checked units of which one gives a codeword to the histogram of raw bit errors: as many samples as a chart needs, at no cost in time.
    pub const HISTOGRAM_EVERY: u32 = 256;
    /// Host reads of data with parity of which one has the exact probability that its stripe does not help worked out; the sum is scaled. It
    /// takes the error rates of all members, which would double the cost of a read.
    pub const STRIPE_EXACT_EVERY: u32 = 16;

    /// Checks the settings.
    ///
    /// # Errors
    /// The first setting that is out of range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.check_temperatures()?;
        self.check_chip_file()?;
        self.rber_model()?.validate(&format!("{FIELD}.model"))?;
        self.ecc.validate(&format!("{FIELD}.ecc"))?;
        self.rereads.validate(&format!("{FIELD}.rereads"))?;
        if let Some(retries) =
            self.rereads_if_protected.filter(|&retries| retries > RereadConfig::MOST_RETRIES)
        {
            let limit = format!("must be at most {}, or absent for no limit", RereadConfig::MOST_RETRIES);
            return Err(ConfigError::new(&format!("{FIELD}.rereads_if_protected"), retries, limit));
        }
        if self.limited_retries > RereadConfig::MOST_RETRIES {
            let limit = format!("must be at most {}", RereadConfig::MOST_RETRIES);
            return Err(ConfigError::new(&format!("{FIELD}.limited_retries"), self.limited_retries, limit));
        }
        self.initial.validate(&format!("{FIELD}.initial"))?;
        self.variation.validate(&format!("{FIELD}.variation"))?;
        if let Some(types) = self.page_types() {
            types.validate(&format!("{FIELD}.page_types"))?;
        }
        Ok(())
    }

    /// Mean wrong bits of a codeword that has just been written to a mean block of `cycles` P/E cycles: over all page types, and
    /// of the worst.
    pub fn fresh_errors(&self, cycles: u32) -> (f64, f64) {
        let rber = self.rber_model().map_or(0.0, |model| model.saturated(f64::from(cycles), 0.0, 0.0).rber);
        let factors: Vec<f64> = match self.page_types() {
            Some(types) => types.ln_factors().iter().map(|ln| ln.exp()).collect(),
            None => vec![1.0],
        };
        let errors = rber * f64::from(self.ecc.codeword_bits());
        let mean = factors.iter().sum::<f64>() / factors.len() as f64;
        (errors * mean, errors * factors.iter().copied().fold(0.0, f64::max))
    }

    /// Checks the code against what is decoded at once: a mapping unit, or a page where a unit spans several.
    ///
    /// # Errors
    /// A codeword whose data is longer, or does not divide it.
    pub(super) fn check_codeword(&self, geometry: &Geometry, unit: Bytes) -> Result<(), ConfigError> {
        let decoded = unit.0.min(geometry.page_size.0) * 8;
        if decoded.is_multiple_of(u64::from(self.ecc.data_bits)) {
            return Ok(());
        }
        let limit = format!(
            "must divide the {decoded} bits that are decoded at once: a mapping unit, or a page if that is smaller"
        );
        Err(ConfigError::new("device.reliability.ecc.data_bits", self.ecc.data_bits, limit))
    }
}
