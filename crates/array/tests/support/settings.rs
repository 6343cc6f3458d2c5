//! Settings of the arrays of all cases: built from those of a small array, step by step.

use outlast_decisions::RepairWay;
use outlast_settings::array::{
    ArrayConfig, BackgroundConfig, ChunkOrder, Consistency, CopyLayout, Level, LogConfig, LogPlace,
    RepairConfig, ReplacementConfig, ShiftWay, StripeWrites,
};
use outlast_units::{ByteRate, Bytes, Nanos};

/// An array of `members` members with chunks of 4 KiB, and the default of every other setting.
pub(crate) fn array_of(level: Level, members: u16) -> ArrayConfig {
    ArrayConfig { chunk: Bytes::kib(4), ..ArrayConfig::new(level, members) }
}

/// Repair by `way`, with queries about 64 KiB each, so that a small member has several ranges.
pub(crate) fn by(way: RepairWay) -> RepairConfig {
    RepairConfig { way, range: Bytes::kib(64), ..RepairConfig::default() }
}

/// Steps that change an array's settings.
pub(crate) trait ArraySettings: Sized {
    /// Changes the settings.
    #[must_use]
    fn with(self, change: impl FnOnce(&mut ArrayConfig)) -> Self;

    fn with_chunk(self, chunk: Bytes) -> Self {
        self.with(|config| config.chunk = chunk)
    }

    fn with_spares(self, spares: u16) -> Self {
        self.with(|config| config.spares = spares)
    }

    /// Parity chunks of a code.
    fn with_parities(self, parities: u16) -> Self {
        self.with(|config| config.parities = Some(parities))
    }

    fn with_copies(self, layout: CopyLayout) -> Self {
        self.with(|config| config.copy_layout = layout)
    }

    fn with_writes(self, writes: StripeWrites) -> Self {
        self.with(|config| config.writes = writes)
    }

    fn with_consistency(self, consistency: Consistency) -> Self {
        self.with(|config| config.consistency = consistency)
    }

    /// A log of `size` on each member, and a bitmap of regions of half that size whose marks go after 3 ms: little enough that it fills up.
    fn with_small_log(self, size: Bytes) -> Self {
        let (bitmap_chunk, bitmap_delay) = (Bytes(size.0 / 2), Nanos::millis(3));
        self.with(|config| {
            config.log = LogConfig { size, bitmap_chunk, bitmap_delay, place: LogPlace::Members };
        })
    }

    /// Work in the background at `min` to `max` bytes a second; `None`: as fast as it goes.
    fn with_rates(self, min: Option<u64>, max: Option<u64>) -> Self {
        let rate = |rate: Option<u64>| rate.and_then(ByteRate::new);
        let (min_rate, max_rate) = (rate(min), rate(max));
        self.with(|config| {
            config.background = BackgroundConfig { min_rate, max_rate, ..config.background };
        })
    }

    /// Work in the background that waits for nothing.
    fn unpaced(self) -> Self {
        self.with_rates(None, None)
    }

    /// Groups worked on at once.
    fn with_window(self, window: u16) -> Self {
        self.with(|config| config.background.window = window)
    }

    fn with_chunk_order(self, chunks: ChunkOrder) -> Self {
        self.with(|config| config.background.chunks = chunks)
    }

    /// Scrubs `interval` after one another.
    fn with_scrubs(self, interval: Option<Nanos>) -> Self {
        self.with(|config| config.background.scrub_interval = interval)
    }

    /// Members are ejected after `errors` read errors.
    fn with_read_errors(self, errors: u32) -> Self {
        self.with(|config| config.ejection.read_errors = errors)
    }

    fn with_repair(self, repair: RepairConfig) -> Self {
        self.with(|config| config.repair = repair)
    }

    /// Parity by percentages, which moves to the oldest members in the way of `shift`.
    fn with_parity_percent(self, percent: &[f64], shift: ShiftWay) -> Self {
        self.with(|config| {
            config.parity_percent = Some(percent.to_vec());
            config.replacement = ReplacementConfig { shift, limit_percent: None };
        })
    }
}

impl ArraySettings for ArrayConfig {
    fn with(mut self, change: impl FnOnce(&mut ArrayConfig)) -> Self {
        change(&mut self);
        self
    }
}
