//! The array rebuilds and checks beside a host as fast as Linux's md does. `tests/md/pace.txt` holds the times that md took
//! (`tests/md/record_pace.py` boots a kernel and asks it), on disks that take 20 ms for each command, however many there are at once.
//!
//! How much md has under way differs by level and is no setting of ours. It is taken from the answers without a host; the other answers are then
//! held against the array with as much. `JUDGED` says of every question what comes of it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod judged;

use crate::support;

use judged::{JUDGED, Judged};
use outlast_array::{Array, ArrayEventKind, PlainDevice};
use outlast_device::{Completion, Device, Op, Tag};
use outlast_settings::array::{Level, PlainConfig};
use outlast_units::{Bytes, Nanos};
use support::command;
use support::settings::{ArraySettings, array_of};

const ANSWERS: &str = include_str!("../../../tests/md/pace.txt");
/// Of a command on a disk: 20 ms, and a tick of the guest's clock. Fitted to one answer: checks of 24 MiB beside a busy host do 192 of them one after
/// the other, which takes md's RAID-6 4.68 s.
const LATENCY: Nanos = Nanos::millis(24);
const CHUNK_KIB: u64 = 64;
/// Until the pass begins.
const LEAD: Nanos = Nanos::secs(1);

/// A question that md was asked, as a row has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Question<'a> {
    level: &'a str,
    members: u16,
    pass: &'a str,
    /// KiB/s.
    min: u64,
    max: u64,
    load: &'a str,
    /// Size of a member.
    kib: u64,
}

impl Question<'_> {
    fn alone(self) -> Self {
        Self { load: "none", min: 1000, max: 200_000, ..self }
    }

    /// Its verdict in [`JUDGED`].
    fn name(self) -> String {
        format!("{} {} {} {} {}", self.level, self.pass, self.min, self.max, self.load)
    }
}

/// Every question once, with the seconds that md took each time.
fn answers() -> Vec<(Question<'static>, Vec<f64>)> {
    let mut found: Vec<(Question<'static>, Vec<f64>)> = Vec::new();
    for row in ANSWERS.lines().filter(|line| line.starts_with("pace ")) {
        let field: Vec<&'static str> = row.split(' ').collect();
        let number = |at: usize| field[at].parse::<u64>().unwrap();
        let question = Question {
            level: field[1],
            members: number(2) as u16,
            pass: field[3],
            min: number(4),
            max: number(5),
            load: field[6],
            kib: number(7),
        };
        let seconds: f64 = field[8].parse().unwrap();
        match found.iter_mut().find(|(known, _)| *known == question) {
            Some((_, all)) => all.push(seconds),
            None => found.push((question, vec![seconds])),
        }
    }
    found
}

/// One of the host's loops, as pace.sh has it.
struct Loop {
    op: Op,
    kib: u64,
    /// From the end of a request to the next; without a pause each follows the one before in place, too.
    pause: Nanos,
    number: u64,
    at: u64,
    next: Option<Nanos>,
}

impl Loop {
    fn all(load: &str) -> Vec<Self> {
        let (op, kib, pause, loops) = match load {
            "none" => (Op::Read, 4, Nanos::ZERO, 0),
            "trickle" => (Op::Read, 4, Nanos::millis(250), 1),
            "one-4k" => (Op::Read, 4, Nanos::ZERO, 1),
            "two-256k" => (Op::Read, 256, Nanos::ZERO, 2),
            "writes-192k" => (Op::Write, 192, Nanos::ZERO, 2),
            other => panic!("{other}"),
        };
        let own = |index: u64| Self {
            op,
            kib,
            pause,
            number: index * 1000,
            at: u64::MAX,
            next: Some(Nanos::millis(index)),
        };
        (0..loops).map(own).collect()
    }

    /// The place of the next request, in its own size, of `blocks` that there are.
    fn take(&mut self, blocks: u64) -> u64 {
        if self.pause > Nanos::ZERO || self.at >= blocks {
            self.at = self.number * 7919 % blocks;
            self.number += 1;
        }
        self.at += 1;
        self.at - 1
    }
}

/// Seconds that the array takes with `window` groups under way.
fn seconds(question: Question<'_>, window: u16) -> f64 {
    let level = match question.level {
        "raid1" => Level::Raid1,
        "raid5" => Level::Raid5,
        "raid6" => Level::Raid6,
        "raid10" => Level::Raid10,
        other => panic!("{other}"),
    };
    let device = |seed| {
        let times = PlainConfig {
            read_latency: LATENCY,
            write_latency: LATENCY,
            lanes: 1024,
            ..PlainConfig::new(Bytes::kib(question.kib))
        };
        PlainDevice::new(times, seed).unwrap()
    };
    let config = array_of(level, question.members).with_chunk(Bytes::kib(CHUNK_KIB)).with_window(window);
    let config = config.with_rates(Some(question.min << 10), Some(question.max << 10));
    let mut array = Array::new(config, (0..question.members.into()).map(device).collect(), false).unwrap();
    // md's mirrors keep the host out of the 64 MiB at which they work; it is beyond them.
    let first = if question.level == "raid1" { 64 << 10 } else { 0 };
    let space = array.identify().capacity.0 / 1024 - first;
    let mut loops = Loop::all(question.load);
    let mut done: Vec<Completion> = Vec::new();
    let mut begun = false;
    loop {
        let host = loops.iter().filter_map(|own| own.next).min();
        let own = if begun {
            array.next_deadline()
        } else {
            Some(array.next_deadline().map_or(LEAD, |at| at.min(LEAD)))
        };
        let now = host.into_iter().chain(own).min().unwrap();
        done.clear();
        array.advance(now, &mut done);
        for completion in &done {
            let own = &mut loops[completion.tag.0 as usize];
            own.next = Some(completion.at.max(now) + own.pause);
        }
        if !begun && now >= LEAD {
            begun = true;
            if question.pass == "recover" {
                array.fail_member(now, 1).unwrap();
                array.replace(now, 1, device(99), false).unwrap();
            } else {
                array.start_scrub(now, false);
            }
        }
        for (index, own) in
            loops.iter_mut().enumerate().filter(|(_, own)| own.next.is_some_and(|at| at <= now))
        {
            own.next = None;
            let at = own.take(space / own.kib) * own.kib + first;
            array.submit(now, command(own.op, at * 2, own.kib as u32 * 2), Tag(index as u32));
        }
        let ended = |kind: &ArrayEventKind| {
            matches!(kind, ArrayEventKind::Rebuilt { .. } | ArrayEventKind::Scrubbed { .. })
        };
        if let Some(end) = array.events().iter().find(|event| ended(&event.kind)) {
            return (end.at - LEAD).as_secs_f64();
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The number of groups under way with which the array takes most nearly as long as md without a host.
fn window_of(alone: Question<'_>, answered: f64) -> u16 {
    let off = |window: u16| (seconds(alone, window) / answered).ln().abs();
    (1..=32).min_by(|&one, &other| off(one).total_cmp(&off(other))).unwrap()
}

/// Tolerance of the distance to the nearest of md's answers, as a logarithm: half a group of the window, and half a second by which md's limits, which go by
/// whole seconds, act late.
fn tolerance(question: Question<'_>, answered: &[f64], window: u16) -> f64 {
    let steps = if (question.min, question.max) == (1000, 200_000) { 0.0 } else { 0.5 / mean(answered) };
    0.5 / f64::from(window) + steps
}

/// Distance of `ours` from the nearest of md's shares of its idle rate, as a logarithm; 0 within their range.
fn beyond(ours: f64, idle: &[f64], answered: &[f64]) -> f64 {
    let shares = answered.iter().map(|seconds| mean(idle) / seconds);
    let (least, most) =
        shares.fold((f64::INFINITY, 0.0_f64), |(least, most), own| (least.min(own), most.max(own)));
    (ours / most).ln().max((least / ours).ln()).max(0.0)
}

#[test]
fn every_question_to_md_is_judged_once() {
    let mut asked: Vec<String> = answers().iter().map(|(question, _)| question.name()).collect();
    let mut judged: Vec<&str> = JUDGED.iter().map(|(name, _)| *name).collect();
    asked.sort();
    judged.sort_unstable();
    assert_eq!(asked, judged);
}

#[test]
fn a_pass_beside_a_host_keeps_as_much_of_its_rate_as_mds() {
    let answers = answers();
    let mut idle: Vec<(Question<'_>, u16, f64)> = Vec::new();
    let mut wrong = Vec::new();
    for (question, answered) in &answers {
        let (_, judged) = JUDGED.iter().find(|(name, _)| *name == question.name()).unwrap();
        if matches!(judged, Judged::LeftOut(_)) {
            continue;
        }
        let alone = question.alone();
        let (_, unloaded) = answers.iter().find(|(other, _)| *other == alone).unwrap();
        let known = idle.iter().find(|(other, ..)| *other == alone).copied();
        let (_, window, own) = known.unwrap_or_else(|| {
            let window = window_of(alone, mean(unloaded));
            idle.push((alone, window, seconds(alone, window)));
            idle[idle.len() - 1]
        });
        let ours = own / seconds(*question, window);
        let (off, tolerance) = (beyond(ours, unloaded, answered), tolerance(*question, answered, window));
        let fits = match judged {
            // Below the tolerance there is no difference to be known.
            Judged::Differs(most, _) => off > tolerance && off <= *most,
            _ => off <= tolerance,
        };
        if !fits {
            let (name, why) = (question.name(), judged.why());
            wrong.push(format!("{name}: {ours:.3}, {off:.4} beyond md's, tolerance {tolerance:.4} ({why})"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
