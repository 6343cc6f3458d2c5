//! A small drive for tests, and a host that drives it.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub(crate) mod host;
pub(crate) mod life;
pub(crate) mod model;
pub(crate) mod own;
pub(crate) mod pacing;
pub(crate) mod protection;
pub(crate) mod redundant;
pub(crate) mod torn;
pub(crate) mod torture;
pub(crate) mod unit;
pub(crate) mod zoned;

use outlast_device::{Command, Completion, Device, Op, Outcome, Tag};
use outlast_media::reliability::{Ecc, RereadConfig};
use outlast_media::{DefectConfig, Geometry, InitialState, PageTimes, Timing};
use outlast_settings::drive::{ControllerConfig, ReliabilityConfig, SsdConfig};
use outlast_settings::ftl::FtlConfig;
use outlast_ssd::Ssd;
use outlast_units::{ByteRate, Bytes, Lba, Nanos};

/// 2 channels × 2 dies × 2 planes × 16 blocks × 8 pages of 4 KiB: 4 MiB, 16 superblocks of 64 units.
pub(crate) fn tiny() -> SsdConfig {
    SsdConfig {
        model: "tiny".to_owned(),
        geometry: Geometry {
            channels: 2,
            chips_per_channel: 1,
            dies_per_chip: 2,
            planes_per_die: 2,
            blocks_per_plane: 16,
            pages_per_block: 8,
            page_size: Bytes::kib(4),
            spare_per_page: Bytes(0),
        },
        timing: Timing {
            read: PageTimes::Same(Nanos::micros(60)),
            program: PageTimes::Same(Nanos::micros(700)),
            erase: Nanos::micros(3500),
            bus: ByteRate::new(667_000_000).expect("not zero"),
            command: Nanos(200),
            suspend: None,
            plane_reads: outlast_media::PlaneReads::default(),
            cache_read: None,
            channel: outlast_media::ChannelOrder::default(),
        },
        defects: DefectConfig::default(),
        ftl: FtlConfig { capacity: Some(Bytes(600 * 4096)), ..FtlConfig::default() },
        controller: ControllerConfig { write_buffer: Bytes::kib(256), ..ControllerConfig::default() },
        reliability: None,
        protection: None,
        placement: None,
        zones: None,
        absent_dies: Vec::new(),
        mount: None,
        repair: None,
        scrub: None,
        hazards: outlast_media::HazardConfig::default(),
        data_sheet: None,
        slc_cache: None,
        energy: None,
        heat: None,
        bytes: false,
    }
}

/// Cells so worn that about one unit in a thousand fails its first read.
pub(crate) fn weak_flash(retries: Option<u32>, if_protected: Option<u32>) -> ReliabilityConfig {
    ReliabilityConfig {
        chip: Some("tlc-72-layer".into()),
        ecc: Ecc { strength: Some(96), ..Ecc::default() },
        rereads: RereadConfig { scale_factor: 1.05, max_retries: retries },
        rereads_if_protected: if_protected,
        initial: InitialState { pe_cycles: 5000, pe_spread: 100.0, ..InitialState::default() },
        ..ReliabilityConfig::default()
    }
}

pub(crate) fn command(op: Op, lba: u64, sectors: u32) -> Command {
    Command::new(op, Lba(lba), sectors)
}

/// Runs `requests` commands from `next` in a closed loop of depth `depth`; returns each command's latency, with its number.
pub(crate) fn closed_loop(
    ssd: &mut Ssd,
    start: Nanos,
    depth: u32,
    requests: u32,
    mut next: impl FnMut(u32) -> Command,
) -> (Vec<(u32, Nanos)>, Nanos) {
    let mut submitted = vec![(0u32, Nanos::ZERO); depth as usize];
    let mut latencies = Vec::with_capacity(requests as usize);
    let mut completions: Vec<Completion> = Vec::new();
    let (mut issued, mut now) = (0, start);
    for tag in 0..depth.min(requests) {
        submitted[tag as usize] = (issued, now);
        ssd.submit(now, next(issued), Tag(tag));
        issued += 1;
    }
    while latencies.len() < requests as usize {
        let reached = ssd.advance_to_completion(Nanos::MAX, &mut completions);
        assert!(
            !completions.is_empty(),
            "{} of {requests} commands completed, then nothing",
            latencies.len()
        );
        assert!(reached >= now, "time ran backwards");
        now = reached;
        for completion in completions.drain(..) {
            assert_eq!(completion.outcome, Outcome::Ok);
            let (number, at) = submitted[completion.tag.0 as usize];
            latencies.push((number, completion.at - at));
            if issued < requests {
                submitted[completion.tag.0 as usize] = (issued, completion.at);
                ssd.submit(completion.at, next(issued), completion.tag);
                issued += 1;
            }
        }
    }
    (latencies, now)
}
