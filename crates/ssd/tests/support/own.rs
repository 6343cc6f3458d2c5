//! Code of the user's that draws its answers by lot.

use outlast_decisions::{
    ChosenCode, HostShareQuestion, LoadedPolicy, PolicyFactory, QuestionPolicy, RandomDraws,
    StripeCodeQuestion, SuperblockChoice, SuperblockColumns,
};
use outlast_ftl::BuiltIn;
use outlast_settings::drive::SsdConfig;
use outlast_settings::ftl::VictimPolicy;
use outlast_units::rng::SplitMix;
use outlast_units::{Nanos, SuperblockId};

/// One drive in three has the codes of its superblocks, and the pace of its host, drawn by lot.
pub(crate) fn decide_some(config: &mut SsdConfig, seed: u64) {
    if seed.is_multiple_of(3) {
        config.ftl.own.code = Some(LoadedPolicy::new(Lots(seed)));
        config.ftl.own.pacing = Some(LoadedPolicy::new(Lots(seed)));
        config.ftl.own.gc = Some(LoadedPolicy::new(Within::of(config.ftl.gc.policy)));
        if let Some(scrub) = config.scrub.as_mut().filter(|_| config.reliability.is_some()) {
            scrub.own = Some(Nanos::millis(10));
            config.ftl.own.scrub = Some(LoadedPolicy::new(Within::nothing()));
        }
        if config.ftl.wear_leveling.static_gap.is_none() {
            config.ftl.own.wear_leveling = Some(LoadedPolicy::new(Within::nothing()));
        }
    }
}

/// Checks that no superblock is told of as more than full; then takes what a built-in policy takes, or nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Within(Option<BuiltIn>);

impl Within {
    pub(crate) fn of(policy: VictimPolicy) -> Self {
        Self(Some(BuiltIn(policy)))
    }

    pub(crate) fn nothing() -> Self {
        Self(None)
    }
}

impl PolicyFactory<dyn SuperblockChoice> for Within {
    fn name(&self) -> &'static str {
        "within"
    }

    fn make(&self) -> Result<Box<dyn SuperblockChoice>, String> {
        Ok(Box::new(*self))
    }
}

impl SuperblockChoice for Within {
    fn choose(
        &mut self,
        view: &SuperblockColumns<'_>,
        draws: &mut RandomDraws<'_>,
    ) -> Result<Option<SuperblockId>, String> {
        for superblock in (0..view.superblocks()).map(SuperblockId) {
            let (valid, units) = (view.valid(superblock), view.units);
            assert!(valid <= units, "superblock {superblock}: {valid} of {units} units are valid");
        }
        self.0.as_mut().map_or(Ok(None), |policy| policy.choose(view, draws))
    }

    fn fork(&self) -> Box<dyn SuperblockChoice> {
        Box::new(*self)
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

impl PolicyFactory<dyn QuestionPolicy<StripeCodeQuestion>> for Lots {
    fn name(&self) -> &'static str {
        "lots"
    }

    fn make(&self) -> Result<Box<dyn QuestionPolicy<StripeCodeQuestion>>, String> {
        Ok(Box::new(self.begin()))
    }
}

impl PolicyFactory<dyn QuestionPolicy<HostShareQuestion>> for Lots {
    fn name(&self) -> &'static str {
        "lots"
    }

    fn make(&self) -> Result<Box<dyn QuestionPolicy<HostShareQuestion>>, String> {
        Ok(Box::new(self.begin()))
    }
}

impl QuestionPolicy<StripeCodeQuestion> for Drawn {
    /// A code that needs no more room than that of the class, as long as no lane is dead: less parity, with as many units of data or in as long a
    /// stripe. Beside dead lanes it may leave less room, and the superblock then gets the code of its class.
    fn decide(&mut self, asked: &StripeCodeQuestion) -> Result<Option<ChosenCode>, String> {
        assert!(asked.free >= 1 && asked.free <= asked.superblocks, "{asked:?}");
        let parity = self.0.below(u64::from(asked.parity) + 1) as u8;
        let longer = u16::from(asked.parity - parity);
        Ok(match self.0.below(3) {
            0 => None,
            1 => Some((asked.data, parity)),
            _ => Some((asked.data + longer, parity)),
        })
    }

    fn fork(&self) -> Box<dyn QuestionPolicy<StripeCodeQuestion>> {
        Box::new(self.clone())
    }
}

impl QuestionPolicy<HostShareQuestion> for Drawn {
    fn decide(&mut self, asked: &HostShareQuestion) -> Result<Option<f64>, String> {
        assert!(asked.valid <= asked.units && asked.start_free < asked.stop_free, "{asked:?}");
        Ok([None, Some(0.0), Some(0.3), Some(1.0)][self.0.below(4) as usize])
    }

    fn fork(&self) -> Box<dyn QuestionPolicy<HostShareQuestion>> {
        Box::new(self.clone())
    }
}
