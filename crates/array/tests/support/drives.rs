//! Small drives that keep their bytes, and what every trial of an array of them does: random commands, losses of power, and a reckoning.

use super::Host;
use super::settings::{ArraySettings, array_of};
use outlast_array::{Array, ArrayHealth};
use outlast_device::{Command, Device, Op};
use outlast_media::{DefectConfig, Geometry, HazardConfig, PageTimes, Timing};
use outlast_settings::array::{ArrayConfig, Consistency, Level};
use outlast_settings::drive::{ControllerConfig, SsdConfig};
use outlast_settings::ftl::FtlConfig;
use outlast_ssd::Ssd;
use outlast_units::rng::SplitMix;
use outlast_units::{ByteRate, Bytes, Lba, Nanos};

/// Sectors of a mapping unit: commands are aligned to it, as a file system's are.
const UNIT: u64 = 8;

/// A drive of so many channels, dies to a channel and planes to a die, blocks to a plane and pages of 4 KiB to a block.
pub(crate) fn drive(
    [channels, dies, planes]: [u16; 3],
    blocks: u32,
    pages: u32,
    capacity: Bytes,
    write_buffer: Bytes,
) -> SsdConfig {
    SsdConfig {
        geometry: Geometry {
            channels,
            chips_per_channel: 1,
            dies_per_chip: dies,
            planes_per_die: planes,
            blocks_per_plane: blocks,
            pages_per_block: pages,
            page_size: Bytes::kib(4),
            spare_per_page: Bytes(0),
        },
        timing: Timing {
            read: PageTimes::Same(Nanos::micros(60)),
            program: PageTimes::Same(Nanos::micros(700)),
            erase: Nanos::micros(3500),
            bus: ByteRate::new(667_000_000).unwrap(),
            command: Nanos(200),
            suspend: None,
            plane_reads: outlast_media::PlaneReads::default(),
            cache_read: None,
            channel: outlast_media::ChannelOrder::default(),
        },
        defects: DefectConfig::default(),
        ftl: FtlConfig { capacity: Some(capacity), ..FtlConfig::default() },
        controller: ControllerConfig { write_buffer, ..ControllerConfig::default() },
        reliability: None,
        protection: None,
        placement: None,
        zones: None,
        absent_dies: Vec::new(),
        mount: None,
        repair: None,
        scrub: None,
        data_sheet: None,
        slc_cache: None,
        energy: None,
        heat: None,
        hazards: HazardConfig::default(),
        model: "small".to_owned(),
        bytes: true,
    }
}

/// An array in which everything comes soon.
pub(crate) fn small(level: Level, members: u16, consistency: Consistency) -> ArrayConfig {
    let config = array_of(level, members).with_chunk(Bytes::kib(16)).with_consistency(consistency);
    let config = config.with_small_log(Bytes::kib(128)).with_rates(Some(40_000_000), None).with_window(6);
    // Broken pages are many here, and members leave on command.
    config.with_read_errors(u32::MAX)
}

/// An array under trial.
#[derive(Clone)]
pub(crate) struct Trial {
    pub(crate) host: Host<Array<Ssd>>,
    pub(crate) rng: SplitMix,
    /// Losses of power.
    pub(crate) cuts: u32,
    may_be_lost: bool,
}

impl Trial {
    /// With an odd seed where the time of commands goes is told, and checked.
    pub(crate) fn new(mut array: Array<Ssd>, seed: u64) -> Self {
        if seed % 2 == 1 {
            array.split_latencies();
            array.with_devices(|_, drive| drive.split_latencies());
        }
        Self { host: Host::new(array), rng: SplitMix::new(seed, "trial"), cuts: 0, may_be_lost: false }
    }

    pub(crate) fn members(&self) -> usize {
        usize::from(self.host.device.config().members)
    }

    pub(crate) fn missing(&self) -> usize {
        let status = self.host.device.status(self.host.now);
        status.members.iter().filter(|member| !member.in_sync).count()
    }

    pub(crate) fn has_records(&self) -> bool {
        matches!(self.host.device.config().consistency, Consistency::Ppl | Consistency::Journal)
    }

    /// With no records of writes under way, anything may fail only once parity fits again.
    pub(crate) fn settle(&mut self) {
        if self.cuts > 0 && !self.has_records() {
            self.host.drain();
        }
    }

    pub(crate) fn next(&mut self) -> Command {
        let mut command = self.host.random(&mut self.rng, 64);
        if command.op != Op::Flush {
            let end = (command.lba.0 + u64::from(command.sectors)).next_multiple_of(UNIT);
            command.lba = Lba(command.lba.0 / UNIT * UNIT);
            command.sectors = (end.min(self.host.capacity()) - command.lba.0) as u32;
        }
        command
    }

    /// Sends the next command when there is room for it.
    pub(crate) fn work(&mut self, command: Command) {
        while self.host.in_flight() >= 16 {
            assert!(self.host.step(), "the host waits for ever");
        }
        self.host.submit(command);
    }

    /// Power fails soon, and is there again at once; the host hears of it or does not.
    pub(crate) fn cut(&mut self) {
        let now = self.host.now + Nanos(self.rng.below(1_500_000));
        if self.rng.below(2) == 0 {
            self.host.device.power_cut(now);
            self.host.forget_in_flight();
        } else {
            // The host hears of everything.
            self.host.device.power_failure(now);
            while self.host.in_flight() > 0 {
                assert!(self.host.step(), "commands outlived a loss of power");
            }
            assert!(self.host.now <= now);
            self.host.forget_unflushed();
        }
        self.host.now = now;
        self.host.device.power_on(now, false).unwrap();
        self.cuts += 1;
    }

    /// Only sectors that were being written when power failed may be lost, and only lost sectors cannot be read.
    pub(crate) fn check_losses(&mut self) {
        let lost = self.host.device.lost().clone();
        for sector in lost.iter().flatten() {
            assert!(self.host.is_doubtful(sector), "sector {sector} is lost");
        }
        for (lba, sectors) in std::mem::take(&mut self.host.errors) {
            let range = lba..lba + u64::from(sectors);
            assert!(self.may_be_lost || lost.overlaps(&range), "a read of {range:?} failed");
        }
        // What is overwritten is no longer lost, but reads of it may still be under way.
        self.may_be_lost = !lost.is_empty() || self.may_be_lost && self.host.in_flight() > 0;
        assert_eq!(self.host.refused, 0, "a write was refused");
    }

    /// After everything has been made whole: no error, no mismatch, nothing lost.
    pub(crate) fn reckon(&mut self) {
        // The first scrub finds what is still unreadable, the second nothing.
        self.host.device.start_scrub(self.host.now, true);
        self.host.drain();
        let before = self.host.device.counters();
        self.host.device.start_scrub(self.host.now, false);
        self.host.drain();
        let after = self.host.device.counters();
        assert_eq!(after.read_errors, before.read_errors, "unreadable sectors are left");
        assert_eq!((before.mismatches, after.mismatches), (0, 0), "redundancy did not fit");
        self.check_losses();
        let lost: Vec<u64> = self.host.device.lost().iter().flatten().collect();
        assert_eq!(self.host.read_all(), lost);
        let status = self.host.device.status(self.host.now);
        assert_eq!((status.state, status.progress, status.stripes_to_move), (ArrayHealth::Clean, None, 0));
        self.host.device.self_check().unwrap();
    }
}
