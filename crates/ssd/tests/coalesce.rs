//! Is a unit that is written again before it is programmed programmed once, and nothing else about it different?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Device, Op, Tag};
use outlast_ftl::ProgramCause;
use outlast_settings::drive::{SsdConfig, WriteCache};
use outlast_settings::ftl::ProtectionConfig;
use outlast_ssd::Ssd;
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, Nanos};
use std::collections::{BTreeSet, VecDeque};
use support::torture::{Cuts, coalesces, torture};
use support::{command, tiny};

/// A drive of which full program units of `kib` KiB are held back.
fn config(kib: u64) -> SsdConfig {
    let mut config = tiny();
    config.geometry.blocks_per_plane = 32;
    coalesces(&mut config, true, kib);
    config
}

/// What a plain list of program units says: which pages are in one that is not full, or is held back.
struct Fifo {
    per_unit: usize,
    most: usize,
    begun: Vec<u64>,
    held: VecDeque<Vec<u64>>,
    open: BTreeSet<u64>,
}

impl Fifo {
    fn of(ssd: &Ssd) -> Self {
        let per_unit = ssd.ftls().next().unwrap().layout().units_per_pu() as usize;
        let most = ssd.config().controller.hold_back.0 as usize / 4096 / per_unit;
        Self { per_unit, most, begun: Vec::new(), held: VecDeque::new(), open: BTreeSet::new() }
    }

    /// Page `page` is written; whether it takes the place that it has.
    fn write(&mut self, page: u64) -> bool {
        if !self.open.insert(page) {
            return true;
        }
        self.begun.push(page);
        if self.begun.len() == self.per_unit {
            self.held.push_back(std::mem::take(&mut self.begun));
            if self.held.len() > self.most {
                self.go();
            }
        }
        false
    }

    /// The program unit held back longest is programmed.
    fn go(&mut self) {
        for page in self.held.pop_front().unwrap() {
            // Trimmed and written again, it is in a later one.
            if !self.begun.contains(&page) && !self.held.iter().any(|unit| unit.contains(&page)) {
                self.open.remove(&page);
            }
        }
    }

    /// Page `page` has no data: it is new when it is written again.
    fn trim(&mut self, page: u64) {
        self.open.remove(&page);
        for unit in self.held.iter_mut().chain([&mut self.begun]) {
            // Its place stays taken.
            unit.iter_mut().filter(|own| **own == page).for_each(|own| *own = u64::MAX);
        }
    }
}

/// A page, of which a few are written much more often than all others.
fn skewed(rng: &mut SplitMix, pages: u64) -> u64 {
    let draws = [rng.below(pages), rng.below(pages), rng.below(pages), rng.below(pages)];
    draws.into_iter().fold(pages, |product, draw| product * (draw + 1) / pages) % pages
}

/// One command at a time, to its end.
fn alone(ssd: &mut Ssd, now: &mut Nanos, op: Op, unit: u64) {
    let mut ended = Vec::new();
    ssd.submit(*now, command(op, 8 * unit, if op == Op::Flush { 0 } else { 8 }), Tag(0));
    while ended.is_empty() {
        let at = ssd.next_deadline().unwrap();
        ssd.advance(at, &mut ended);
    }
    *now = ended[0].at;
}

#[test]
fn a_write_coalesces_exactly_if_a_plain_list_has_its_unit() {
    for kib in [0, 32, 64, 200] {
        let mut ssd = Ssd::new(config(kib), 5).unwrap();
        let (mut fifo, mut rng, mut now) = (Fifo::of(&ssd), SplitMix::new(kib, "pages"), Nanos::ZERO);
        let (mut writes, mut coalesced) = (0, 0);
        for step in 0..30_000 {
            let page = skewed(&mut rng, 600);
            match rng.below(20) {
                0 => {
                    alone(&mut ssd, &mut now, Op::Trim, page);
                    fifo.trim(page);
                }
                1..4 => {
                    let hits = ssd.counters().buffer_hits;
                    alone(&mut ssd, &mut now, Op::Read, page);
                    assert!(!fifo.open.contains(&page) || ssd.counters().buffer_hits == hits + 1, "a hit");
                }
                _ => {
                    alone(&mut ssd, &mut now, Op::Write, page);
                    (writes, coalesced) = (writes + 1, coalesced + u64::from(fifo.write(page)));
                }
            }
            assert_eq!(ssd.counters().coalesced_writes, coalesced, "step {step}, {kib} KiB held back");
        }
        assert!(coalesced > writes / 100 && coalesced < writes * 9 / 10, "{coalesced} of {writes}");
        // What was not coalesced was programmed, or will be; the host's bytes are all counted.
        assert_eq!(ssd.written()[ProgramCause::Host] + coalesced, writes);
        assert_eq!(ssd.counters().host_bytes_written, writes * 4096);
        ssd.self_check().unwrap();
    }
}

/// Without time the same writes coalesce, and what is in the buffer when time begins still may.
#[test]
fn writes_without_time_coalesce_as_a_plain_list_says() {
    for kib in [0, 64, 200] {
        let mut ssd = Ssd::new(config(kib), 5).unwrap();
        let (mut fifo, mut rng, mut coalesced) = (Fifo::of(&ssd), SplitMix::new(kib, "pages"), 0);
        for step in 0..100_000 {
            let page = skewed(&mut rng, 600);
            ssd.write_unit_untimed(page, 0).unwrap();
            coalesced += u64::from(fifo.write(page));
            assert_eq!(ssd.counters().coalesced_writes, coalesced, "step {step}, {kib} KiB held back");
        }
        ssd.begin_timed();
        ssd.self_check().unwrap();
        let mut now = Nanos::ZERO;
        for step in 0..1000 {
            let page = skewed(&mut rng, 600);
            alone(&mut ssd, &mut now, Op::Write, page);
            coalesced += u64::from(fifo.write(page));
            assert_eq!(ssd.counters().coalesced_writes, coalesced, "step {step} with time");
        }
        ssd.self_check().unwrap();
    }
}

/// Uniform writes to N pages: with b of them in the buffer a write adds another with probability 1 - b/N, so it takes N/(N - b) writes. The buffer
/// goes from H to H + U, U being a program unit and H what is held back, and loses U: of the sum of these, U were not coalesced.
#[test]
fn uniform_writes_coalesce_as_often_as_the_buffer_holds_their_page() {
    let (writes, pages) = (400_000u64, 600u64);
    for kib in [0, 64, 200] {
        let mut ssd = Ssd::new(config(kib), 5).unwrap();
        let fifo = Fifo::of(&ssd);
        let (unit, held) = (fifo.per_unit as u64, (fifo.per_unit * fifo.most) as u64);
        let all: f64 = (held..held + unit).map(|own| pages as f64 / (pages - own) as f64).sum();
        let expected = 1.0 - unit as f64 / all;
        let mut rng = SplitMix::new(kib, "pages");
        for _ in 0..writes {
            ssd.write_unit_untimed(rng.below(pages), 0).unwrap();
        }
        let measured = ssd.counters().coalesced_writes as f64 / writes as f64;
        // Five standard errors of so many draws, and that the buffer was empty at first.
        let most = 5.0 * (expected / writes as f64).sqrt() + held as f64 / writes as f64;
        assert!((measured - expected).abs() < most, "{measured} coalesce, not {expected}, within {most}");
    }
}

#[test]
fn what_a_flush_has_covered_is_not_written_over() {
    let mut config = config(64);
    config.controller.write_cache = WriteCache::Volatile;
    config.bytes = true;
    let mut ssd = Ssd::new(config, 5).unwrap();
    ssd.begin_timed();
    let mut now = Nanos::ZERO;
    let write = |ssd: &mut Ssd, now: &mut Nanos, byte: u8| {
        ssd.submit_data(*now, command(Op::Write, 8 * 7, 8), Tag(0), &[byte; 4096]);
        let mut ended = Vec::new();
        while ended.is_empty() {
            *now = ssd.next_deadline().unwrap();
            ssd.advance(*now, &mut ended);
        }
    };
    write(&mut ssd, &mut now, 1);
    write(&mut ssd, &mut now, 2);
    assert_eq!(ssd.counters().coalesced_writes, 1);
    alone(&mut ssd, &mut now, Op::Flush, 0);
    write(&mut ssd, &mut now, 3);
    assert_eq!(ssd.counters().coalesced_writes, 1, "the second is on flash");
    write(&mut ssd, &mut now, 4);
    assert_eq!(ssd.counters().coalesced_writes, 2);
    ssd.power_cut(now);
    alone(&mut ssd, &mut now, Op::Read, 7);
    assert_eq!(ssd.take_data(Tag(0)).unwrap(), [2; 4096], "what the flush covered is there");
    ssd.self_check().unwrap();
}

/// Nothing but what is held back is left to collect, and the host still gets room.
#[test]
fn a_buffer_that_holds_superblocks_back_gives_them_up_for_space() {
    for cache in [WriteCache::Protected, WriteCache::Volatile] {
        let mut config = tiny();
        config.controller.write_cache = cache;
        config.controller.write_buffer = Bytes::mib(2);
        coalesces(&mut config, true, 1024);
        let mut ssd = Ssd::new(config, 5).unwrap();
        ssd.begin_timed();
        let (mut rng, mut now) = (SplitMix::new(3, "pages"), Nanos::ZERO);
        for _ in 0..20_000 {
            alone(&mut ssd, &mut now, Op::Write, rng.below(600));
        }
        assert!(ssd.victims().0 > 100, "space was collected");
        ssd.self_check().unwrap();
    }
}

#[test]
fn bytes_survive_cuts_and_failures_while_writes_coalesce() {
    for cache in [WriteCache::Protected, WriteCache::Volatile] {
        for kib in [0, 64] {
            for protection in
                [None, Some(ProtectionConfig { data: 3, parity: 1, ..ProtectionConfig::default() })]
            {
                let mut config = tiny();
                // Sixteen units to a program unit, so that a write finds its page there though others come between.
                config.geometry.page_size = Bytes::kib(16);
                config.geometry.pages_per_block = 4;
                config.ftl.one_shot = 2;
                // Six superblocks with parity: leaves room for a stream of wear levelling, which is decided by lot.
                config.ftl.capacity = Some(Bytes::kib(2304));
                config.controller.write_cache = cache;
                config.protection = protection;
                coalesces(&mut config, true, kib);
                let cuts = Cuts { every: 100, volley: 2 };
                let model = torture(&config, 7 + kib, 4000, cuts, 0);
                let coalesced = model.ssd.counters().coalesced_writes;
                assert!(coalesced > 50, "{coalesced} coalesce: {cache:?}, {kib} KiB held back");
                assert!(model.checked > 2500 && model.refused == 0);
                torture(&config, 9 + kib, 2000, cuts, 6);
            }
        }
    }
}
