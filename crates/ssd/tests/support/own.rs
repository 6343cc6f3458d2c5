//! Code of the user's that draws its answers by lot.

use outlast_decisions::{Decides, Loaded, Makes};
use outlast_ftl::{ChosenCode, Collecting, Opening};
use outlast_ssd::SsdConfig;
use outlast_units::rng::SplitMix;

/// One drive in three has the codes of its superblocks, and the pace of its host, drawn by lot.
pub(crate) fn decide_some(config: &mut SsdConfig, seed: u64) {
    if seed.is_multiple_of(3) {
        config.ftl.own.code = Some(Loaded::new(Lots(seed)));
        config.ftl.own.pacing = Some(Loaded::new(Lots(seed)));
    }
}

#[derive(Clone, Copy)]
struct Lots(u64);

impl Lots {
    fn begin(self) -> Drawn {
        Drawn(SplitMix::new(self.0, "own"))
    }
}

#[derive(Clone, Debug)]
struct Drawn(SplitMix);

impl Makes<dyn Decides<Opening>> for Lots {
    fn name(&self) -> &'static str {
        "lots"
    }

    fn make(&self) -> Result<Box<dyn Decides<Opening>>, String> {
        Ok(Box::new(self.begin()))
    }
}

impl Makes<dyn Decides<Collecting>> for Lots {
    fn name(&self) -> &'static str {
        "lots"
    }

    fn make(&self) -> Result<Box<dyn Decides<Collecting>>, String> {
        Ok(Box::new(self.begin()))
    }
}

impl Decides<Opening> for Drawn {
    /// A code that needs no more room than that of the class: less parity, with as many units of data or in as long a stripe.
    fn decide(&mut self, asked: &Opening) -> Result<Option<ChosenCode>, String> {
        assert!(asked.free >= 1 && asked.free <= asked.superblocks, "{asked:?}");
        let parity = self.0.below(u64::from(asked.parity) + 1) as u8;
        let longer = u16::from(asked.parity - parity);
        Ok(match self.0.below(3) {
            0 => None,
            1 => Some((asked.data, parity)),
            _ => Some((asked.data + longer, parity)),
        })
    }

    fn fork(&self) -> Box<dyn Decides<Opening>> {
        Box::new(self.clone())
    }
}

impl Decides<Collecting> for Drawn {
    fn decide(&mut self, asked: &Collecting) -> Result<Option<f64>, String> {
        assert!(asked.valid <= asked.units && asked.start_free < asked.stop_free, "{asked:?}");
        Ok([None, Some(0.0), Some(0.3), Some(1.0)][self.0.below(4) as usize])
    }

    fn fork(&self) -> Box<dyn Decides<Collecting>> {
        Box::new(self.clone())
    }
}
