//! Where on the device a recorded address goes.

use super::Addresses;
use super::fields::MOST_SECTORS;
use super::pieces::Packed;

/// The piece in which `fit` packs, in sectors: 1 MiB keeps any usual run within one piece.
pub(crate) const PIECE: u64 = 2048;

/// What one pass over a trace found out for placing it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Survey {
    /// First sector after the last one touched, on each device.
    pub(crate) ends: Vec<u64>,
    /// Pieces touched after the devices were laid out, in order; only for `fit`.
    pub(crate) pieces: Packed,
}

impl Survey {
    /// Where each device starts when they are laid side by side; `None` if that exceeds 2^64 bytes.
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

/// Requests that were placed, and what it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Placed {
    /// Requests with an address.
    pub(crate) requests: u64,
    /// Those that were recorded beyond the capacity, at least in part.
    pub(crate) beyond: u64,
    /// Those that wrapped.
    pub(crate) wrapped: u64,
}

impl Placed {
    /// What share of the requests lay beyond a device of `capacity` sectors, and what became of these.
    pub(crate) fn note(&self, addresses: Addresses, capacity: u64, pieces: u64) -> Option<String> {
        if self.beyond == 0 {
            return None;
        }
        let (requests, beyond) = (self.requests, self.beyond);
        let percent = |part: u64| share(part, requests);
        let drive = gib(capacity);
        let what = match addresses {
            Addresses::Fit => {
                let wraps = match self.wrapped {
                    0 => String::new(),
                    wrapped => {
                        format!(
                            ", which is more than that, so that {} wrapped onto other data",
                            percent(wrapped)
                        )
                    }
                };
                let touched = gib(pieces * PIECE);
                format!(
                    "the {touched} of 1-MiB pieces that the trace touches were packed side by side{wraps} (addresses = \"fit\")"
                )
            }
            Addresses::Wrap => "they wrapped onto other data (addresses = \"wrap\")".to_owned(),
            Addresses::Strict => "the rest of the last unit was left out (addresses = \"strict\")".to_owned(),
        };
        let of = percent(beyond);
        Some(format!(
            "{of} of the trace's requests ({beyond} of {requests}) lie beyond the {drive} that the host has: {what}."
        ))
    }
}

/// A share in percent, never 0 for something and never 100 for less than all.
fn share(part: u64, all: u64) -> String {
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

/// A size in sectors, for people.
fn gib(sectors: u64) -> String {
    let mib = sectors as f64 / PIECE as f64;
    if mib < 1024.0 { format!("{mib:.0} MiB") } else { format!("{:.1} GiB", mib / 1024.0) }
}

/// Maps recorded addresses to the device's.
#[derive(Clone, Debug)]
pub(crate) struct Placement {
    /// Capacity in sectors; `None` leaves addresses as they are.
    pub(crate) capacity: Option<u64>,
    pub(crate) addresses: Addresses,
    /// Requests are rounded out to multiples of this many sectors; at least 1.
    pub(crate) align: u64,
    /// Where each device starts; empty to lay them over each other.
    pub(crate) starts: Vec<u64>,
    /// Pieces that `fit` packs; none if the trace fits as it is.
    pub(crate) pieces: Packed,
    /// What has been placed so far.
    pub(crate) placed: Placed,
}

impl Placement {
    /// The request on its own device after rounding out.
    pub(crate) fn aligned(&self, lba: u64, sectors: u32) -> (u64, u64) {
        if self.align == 1 {
            return (lba, u64::from(sectors));
        }
        let end = lba + u64::from(sectors);
        let first = lba / self.align * self.align;
        (first, end.div_ceil(self.align).saturating_mul(self.align).min(MOST_SECTORS).max(end) - first)
    }

    /// The address with the devices laid out.
    pub(crate) fn laid_out(&self, device: u32, lba: u64) -> u64 {
        lba.saturating_add(self.starts.get(device as usize).copied().unwrap_or(0))
    }

    /// First sector and length on the device, or the recorded ones as an error if they do not fit.
    pub(crate) fn place(&mut self, device: u32, lba: u64, sectors: u32) -> Result<(u64, u32), (u64, u64)> {
        let (lba, mut sectors) = self.aligned(lba, sectors);
        let mut lba = self.laid_out(device, lba);
        let Some(capacity) = self.capacity else {
            return Ok((lba, u32::try_from(sectors).unwrap_or(u32::MAX)));
        };
        let beyond = |lba: u64| lba.checked_add(sectors).is_none_or(|end| end > capacity);
        self.placed.requests += 1;
        self.placed.beyond += u64::from(beyond(lba));
        if let Some(rank) = self.pieces.rank(lba / PIECE) {
            lba = rank * PIECE + lba % PIECE;
        }
        if beyond(lba) {
            if self.addresses == Addresses::Strict {
                // Rounding out alone never makes a request that fits fail.
                if lba < capacity && capacity - lba >= sectors.saturating_sub(self.align) && self.align > 1 {
                    sectors = sectors.min(capacity - lba);
                } else {
                    return Err((lba, sectors));
                }
            } else if sectors > capacity {
                return Err((lba, sectors));
            } else {
                self.placed.wrapped += 1;
                lba = (lba % capacity).min(capacity - sectors);
            }
        }
        Ok((lba, u32::try_from(sectors).unwrap_or(u32::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placement(addresses: Addresses) -> Placement {
        Placement {
            capacity: Some(10_000),
            addresses,
            align: 1,
            starts: Vec::new(),
            pieces: Packed::default(),
            placed: Placed::default(),
        }
    }

    #[test]
    fn wrap_strict_and_align() {
        let mut wrap = placement(Addresses::Wrap);
        assert_eq!(wrap.place(0, 25_000, 8), Ok((5_000, 8)));
        assert_eq!(wrap.place(0, 9_999, 8), Ok((9_992, 8)));
        assert_eq!(wrap.place(0, 0, 10_001), Err((0, 10_001)));
        wrap.align = 8;
        assert_eq!(wrap.place(0, 15, 2), Ok((8, 16)));
        let mut strict = placement(Addresses::Strict);
        assert_eq!(strict.place(0, 9_992, 8), Ok((9_992, 8)));
        assert_eq!(strict.place(0, 9_993, 8), Err((9_993, 8)));
    }

    #[test]
    fn fit_packs_touched_pieces_and_keeps_runs() {
        let mut fit =
            Placement { pieces: [5, 6, 1_000_000].into_iter().collect(), ..placement(Addresses::Fit) };
        assert_eq!(fit.place(0, 5 * PIECE + 7, 8), Ok((7, 8)));
        assert_eq!(fit.place(0, 7 * PIECE - 4, 4), Ok((2 * PIECE - 4, 4)));
        assert_eq!(fit.place(0, 1_000_000 * PIECE, 8), Ok((2 * PIECE, 8)));
    }

    #[test]
    fn what_lay_beyond_is_counted_and_told() {
        let mut wrap = placement(Addresses::Wrap);
        for lba in [0, 9_992, 9_993, 25_000] {
            assert!(wrap.place(0, lba, 8).is_ok());
        }
        assert_eq!(wrap.placed, Placed { requests: 4, beyond: 2, wrapped: 2 });
        let note = wrap.placed.note(Addresses::Wrap, 10_000, 0);
        assert_eq!(
            note.as_deref(),
            Some(
                "50.0 % of the trace's requests (2 of 4) lie beyond the 5 MiB that the host has: they wrapped onto \
                 other data (addresses = \"wrap\")."
            )
        );
        // Six pieces do not fit into a little less than five.
        let mut fit = Placement {
            pieces: [0, 1, 2, 3, 4, 9_000_000].into_iter().collect(),
            ..placement(Addresses::Fit)
        };
        for lba in [0, 9_000_000 * PIECE] {
            assert!(fit.place(0, lba, 8).is_ok());
        }
        assert_eq!(fit.placed, Placed { requests: 2, beyond: 1, wrapped: 1 });
        let note = fit.placed.note(Addresses::Fit, 10_000, 6).unwrap();
        assert!(
            note.contains("the 6 MiB of 1-MiB pieces that the trace touches were packed side by side"),
            "{note}"
        );
        assert!(note.contains("50.0 % wrapped onto other data"), "{note}");
        assert_eq!(Placed { requests: 9, ..Placed::default() }.note(Addresses::Wrap, 1, 0), None);
        assert_eq!(share(1, 1_000_000), "less than 0.01 %");
        assert_eq!(share(999_999, 1_000_000), "more than 99.99 %");
    }

    #[test]
    fn devices_side_by_side() {
        let survey = Survey { ends: vec![1, 5000], pieces: Packed::default() };
        assert_eq!(survey.starts(), Some(vec![0, PIECE]));
        assert_eq!(Survey { ends: vec![MOST_SECTORS; 3], pieces: Packed::default() }.starts(), None);
    }
}
