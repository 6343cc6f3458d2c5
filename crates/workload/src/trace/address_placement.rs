//! Maps recorded addresses to those of the simulated device.

use super::AddressOverflow;
use super::fields::MOST_SECTORS;
use super::pieces::PackedPieces;

/// The piece in which `fit` packs, in sectors: 1 MiB keeps any usual run within one piece.
pub(crate) const PIECE: u64 = 2048;

/// Facts of a trace that need one pass over it before it is placed.
#[derive(Clone, Debug, Default)]
pub(crate) struct TraceSurvey {
    /// First sector after the last one touched, by device.
    pub(crate) ends: Vec<u64>,
    /// Touched pieces in order, with the devices side by side if they are; only for `fit`.
    pub(crate) pieces: PackedPieces,
}

impl TraceSurvey {
    /// First sectors of the devices side by side; `None` if they exceed 2^64 bytes.
    pub(crate) fn starts(&self) -> Option<Vec<u64>> {
        let mut start = 0u64;
        let mut starts = Vec::with_capacity(self.ends.len());
        for end in &self.ends {
            starts.push(start);
            start = start.checked_add(end.div_ceil(PIECE) * PIECE).filter(|&end| end <= MOST_SECTORS)?;
        }
        Some(starts)
    }
}

/// Counts of placed requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlacementCounts {
    /// Requests with an address.
    pub(crate) requests: u64,
    /// Requests recorded beyond the capacity, at least in part.
    pub(crate) beyond: u64,
    /// Requests that wrapped onto other data.
    pub(crate) wrapped: u64,
}

impl PlacementCounts {
    /// The note on the requests beyond a device of `capacity` sectors; `None` without any. `pieces` are those that `fit` has packed.
    pub(crate) fn note(&self, addresses: AddressOverflow, capacity: u64, pieces: u64) -> Option<String> {
        if self.beyond == 0 {
            return None;
        }
        let (requests, beyond) = (self.requests, self.beyond);
        let percent = |part: u64| percent_text(part, requests);
        let drive = size_text(capacity);
        let remedy = match addresses {
            AddressOverflow::Fit => {
                let wraps = match self.wrapped {
                    0 => String::new(),
                    wrapped => {
                        format!(
                            ", which is more than that, so that {} wrapped onto other data",
                            percent(wrapped)
                        )
                    }
                };
                let touched = size_text(pieces * PIECE);
                format!(
                    "the {touched} of 1-MiB pieces that the trace touches were packed side by side{wraps} (addresses = \"fit\")"
                )
            }
            AddressOverflow::Wrap => "they wrapped onto other data (addresses = \"wrap\")".to_owned(),
            AddressOverflow::Strict => {
                "the rest of the last unit was left out (addresses = \"strict\")".to_owned()
            }
        };
        let share = percent(beyond);
        Some(format!(
            "{share} of the trace's requests ({beyond} of {requests}) lie beyond the {drive} that the host has: {remedy}."
        ))
    }
}

/// A share in percent: never 0 % for more than nothing, never 100 % for less than all.
fn percent_text(part: u64, all: u64) -> String {
    let percent = 100.0 * part as f64 / all as f64;
    if part != 0 && percent < 0.01 {
        "less than 0.01 %".to_owned()
    } else if part != all && percent > 99.99 {
        "more than 99.99 %".to_owned()
    } else if (0.1..99.9).contains(&percent) {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.2} %")
    }
}

/// A size in MiB or GiB, from sectors.
fn size_text(sectors: u64) -> String {
    let mib = sectors as f64 / PIECE as f64;
    if mib < 1024.0 { format!("{mib:.0} MiB") } else { format!("{:.1} GiB", mib / 1024.0) }
}

/// Settings and counts of the placement of a trace.
#[derive(Clone, Debug)]
pub(crate) struct AddressPlacement {
    /// Capacity in sectors; `None` leaves addresses as they are.
    pub(crate) capacity: Option<u64>,
    /// Rule for addresses beyond the capacity.
    pub(crate) addresses: AddressOverflow,
    /// Requests are rounded out to multiples of this many sectors; at least 1.
    pub(crate) align: u64,
    /// First sector of each device; empty to lay them over each other.
    pub(crate) starts: Vec<u64>,
    /// Pieces that `fit` packs; empty if the trace fits as it is.
    pub(crate) pieces: PackedPieces,
    /// Requests placed so far.
    pub(crate) counts: PlacementCounts,
}

impl AddressPlacement {
    /// First sector and length of a request on its device, rounded out to `align`.
    pub(crate) fn round_out(&self, lba: u64, sectors: u32) -> (u64, u64) {
        if self.align == 1 {
            return (lba, u64::from(sectors));
        }
        let end = lba + u64::from(sectors);
        let first = lba / self.align * self.align;
        (first, end.div_ceil(self.align).saturating_mul(self.align).min(MOST_SECTORS).max(end) - first)
    }

    /// The address `lba` of a device, from the start of the first device.
    pub(crate) fn with_device_start(&self, device: u32, lba: u64) -> u64 {
        lba.saturating_add(self.starts.get(device as usize).copied().unwrap_or(0))
    }

    /// First sector and length on the simulated device, or as an error those before the attempt to fit them in.
    pub(crate) fn place(&mut self, device: u32, lba: u64, sectors: u32) -> Result<(u64, u32), (u64, u64)> {
        let (lba, mut sectors) = self.round_out(lba, sectors);
        let mut lba = self.with_device_start(device, lba);
        let Some(capacity) = self.capacity else {
            return Ok((lba, u32::try_from(sectors).unwrap_or(u32::MAX)));
        };
        let beyond = |lba: u64| lba.checked_add(sectors).is_none_or(|end| end > capacity);
        self.counts.requests += 1;
        self.counts.beyond += u64::from(beyond(lba));
        // Packing goes by the first piece; pieces that follow each other in the trace also do when packed.
        if let Some(rank) = self.pieces.rank(lba / PIECE) {
            lba = rank * PIECE + lba % PIECE;
        }
        if beyond(lba) {
            if self.addresses == AddressOverflow::Strict {
                // A request that fits as recorded must not fail because it was rounded out: its end is cut instead.
                if lba < capacity && capacity - lba >= sectors.saturating_sub(self.align) && self.align > 1 {
                    sectors = sectors.min(capacity - lba);
                } else {
                    return Err((lba, sectors));
                }
            } else if sectors > capacity {
                return Err((lba, sectors));
            } else {
                self.counts.wrapped += 1;
                // A request that would cross the end is moved back to end there.
                lba = (lba % capacity).min(capacity - sectors);
            }
        }
        Ok((lba, u32::try_from(sectors).unwrap_or(u32::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placement(addresses: AddressOverflow) -> AddressPlacement {
        AddressPlacement {
            capacity: Some(10_000),
            addresses,
            align: 1,
            starts: Vec::new(),
            pieces: PackedPieces::default(),
            counts: PlacementCounts::default(),
        }
    }

    #[test]
    fn requests_wrap_are_refused_and_are_rounded_out() {
        let mut wrap = placement(AddressOverflow::Wrap);
        assert_eq!(wrap.place(0, 25_000, 8), Ok((5_000, 8)));
        assert_eq!(wrap.place(0, 9_999, 8), Ok((9_992, 8)));
        assert_eq!(wrap.place(0, 0, 10_001), Err((0, 10_001)));
        wrap.align = 8;
        assert_eq!(wrap.place(0, 15, 2), Ok((8, 16)));
        let mut strict = placement(AddressOverflow::Strict);
        assert_eq!(strict.place(0, 9_992, 8), Ok((9_992, 8)));
        assert_eq!(strict.place(0, 9_993, 8), Err((9_993, 8)));
    }

    #[test]
    fn fit_packs_touched_pieces_and_keeps_runs() {
        let mut fit = AddressPlacement {
            pieces: [5, 6, 1_000_000].into_iter().collect(),
            ..placement(AddressOverflow::Fit)
        };
        assert_eq!(fit.place(0, 5 * PIECE + 7, 8), Ok((7, 8)));
        assert_eq!(fit.place(0, 7 * PIECE - 4, 4), Ok((2 * PIECE - 4, 4)));
        assert_eq!(fit.place(0, 1_000_000 * PIECE, 8), Ok((2 * PIECE, 8)));
    }

    #[test]
    fn requests_beyond_the_capacity_are_counted_and_noted() {
        let mut wrap = placement(AddressOverflow::Wrap);
        for lba in [0, 9_992, 9_993, 25_000] {
            assert!(wrap.place(0, lba, 8).is_ok());
        }
        assert_eq!(wrap.counts, PlacementCounts { requests: 4, beyond: 2, wrapped: 2 });
        let note = wrap.counts.note(AddressOverflow::Wrap, 10_000, 0);
        assert_eq!(
            note.as_deref(),
            Some(
                "50.0 % of the trace's requests (2 of 4) lie beyond the 5 MiB that the host has: they wrapped onto \
                 other data (addresses = \"wrap\")."
            )
        );
        // Six pieces do not fit into a little less than five.
        let mut fit = AddressPlacement {
            pieces: [0, 1, 2, 3, 4, 9_000_000].into_iter().collect(),
            ..placement(AddressOverflow::Fit)
        };
        for lba in [0, 9_000_000 * PIECE] {
            assert!(fit.place(0, lba, 8).is_ok());
        }
        assert_eq!(fit.counts, PlacementCounts { requests: 2, beyond: 1, wrapped: 1 });
        let note = fit.counts.note(AddressOverflow::Fit, 10_000, 6).unwrap();
        assert!(
            note.contains("the 6 MiB of 1-MiB pieces that the trace touches were packed side by side"),
            "{note}"
        );
        assert!(note.contains("50.0 % wrapped onto other data"), "{note}");
        assert_eq!(
            PlacementCounts { requests: 9, ..PlacementCounts::default() }.note(AddressOverflow::Wrap, 1, 0),
            None
        );
        assert_eq!(percent_text(1, 1_000_000), "less than 0.01 %");
        assert_eq!(percent_text(999_999, 1_000_000), "more than 99.99 %");
    }

    #[test]
    fn devices_side_by_side_start_at_whole_pieces() {
        let survey = TraceSurvey { ends: vec![1, 5000], pieces: PackedPieces::default() };
        assert_eq!(survey.starts(), Some(vec![0, PIECE]));
        assert_eq!(
            TraceSurvey { ends: vec![MOST_SECTORS; 3], pieces: PackedPieces::default() }.starts(),
            None
        );
    }
}
