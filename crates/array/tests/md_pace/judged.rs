//! The verdict on each question that md was asked: `JUDGED`. Decision 0101 says which were chosen after answers had been seen.

/// Verdict on a question.
#[derive(Clone, Copy, Debug)]
pub(super) enum Judged {
    /// Something was fitted to it: it is no evidence.
    Calibrates,
    /// Ours is among md's own answers, or no farther from them than the tolerance.
    Met,
    /// Ours is known to be farther from them, as a logarithm, but by no more than this.
    Differs(f64, &'static str),
    /// Not held against ours.
    LeftOut(&'static str),
}

impl Judged {
    /// Why ours is not among md's answers.
    pub(super) fn why(self) -> &'static str {
        match self {
            Self::Differs(_, why) | Self::LeftOut(why) => why,
            Self::Calibrates | Self::Met => "it is to be",
        }
    }
}

const NOTICES: &str =
    "md takes notice of one reader more often: what is under way at that moment decides at the edge";
const CACHE: &str = "probably md's writers hold stripes of a cache that its pass shares";
const MIRROR: &str = "a request of the host, and what it has waited for, holds up md's pass";
const STARVED: &str = "probably starved: in the last 4 MiB of 68 md's pass waits for a moment without the host, and its own answers are 64 and 157 s";
const GAPS: &str = "probably md's pass works in the gaps between requests of the host: as far as its thread comes before the host's";
const TURNS: &str = "md's pass and its host take turns in the whole array: 384 times a read, a write and a host's read of 24 ms make its 28 s";

/// Level, pass, limits and load.
pub(super) const JUDGED: [(&str, Judged); 21] = [
    ("raid1 recover 1000 200000 none", Judged::Calibrates),
    ("raid1 recover 1000 200000 trickle", Judged::Differs(0.032, MIRROR)),
    ("raid1 recover 1000 200000 one-4k", Judged::LeftOut(GAPS)),
    ("raid1 recover 1000 200000 two-256k", Judged::LeftOut(STARVED)),
    ("raid5 recover 1000 200000 none", Judged::Calibrates),
    ("raid5 recover 1000 200000 trickle", Judged::Met),
    ("raid5 recover 1000 200000 one-4k", Judged::Differs(0.120, NOTICES)),
    ("raid5 recover 1000 200000 two-256k", Judged::Met),
    ("raid5 recover 8000 200000 two-256k", Judged::Met),
    ("raid5 recover 1000 4000 none", Judged::Met),
    ("raid5 recover 1000 200000 writes-192k", Judged::Differs(0.106, CACHE)),
    ("raid6 recover 1000 200000 none", Judged::Calibrates),
    ("raid6 recover 1000 200000 trickle", Judged::Met),
    ("raid6 recover 1000 200000 one-4k", Judged::Differs(0.105, NOTICES)),
    ("raid6 recover 1000 200000 two-256k", Judged::Met),
    ("raid6 check 1000 200000 none", Judged::Calibrates),
    ("raid6 check 1000 200000 two-256k", Judged::Calibrates),
    ("raid10 recover 1000 200000 none", Judged::Calibrates),
    ("raid10 recover 1000 200000 trickle", Judged::Differs(0.064, MIRROR)),
    ("raid10 recover 1000 200000 one-4k", Judged::LeftOut(GAPS)),
    ("raid10 recover 1000 200000 two-256k", Judged::LeftOut(TURNS)),
];
