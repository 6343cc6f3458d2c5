//! Lengths of requests: fixed, from a range, or by shares (fio's `get_next_buflen`).

use super::{OffsetGenerator, READ, TRIM, WRITE};

impl OffsetGenerator {
    /// The length of a request at `offset` in bytes; `None` if no size fits into the region.
    pub(super) fn draw_length(&mut self, ddir: usize, offset: u64, random: bool) -> Option<u64> {
        if self.writes_trimmed(ddir) {
            return Some(self.last_end[TRIM] - self.last_start[TRIM]?);
        }
        let access = &self.access;
        // Sizes may go with sequential and random in the place of reads and writes.
        let row = match (access.by_sequence, random) {
            (false, _) => ddir,
            (true, true) => WRITE,
            (true, false) => READ,
        };
        let sizes = &access.sizes[row];
        let (least, most) = (sizes.least, sizes.most);
        if least == most {
            return Some(least);
        }
        let room = access.start + access.length - offset;
        if least > room {
            return None;
        }
        let random = &mut self.sizes[row];
        loop {
            let drawn = random.next();
            let mut bytes = 0;
            if sizes.split.is_empty() {
                // fio adds up to `most` to `least` and cuts at `most` below, which makes the largest sizes likelier than others.
                bytes = least + (most as f64 * (drawn as f64 / random.span())) as u64;
            } else {
                let (mut sum, hundredth) = (0, random.most() / 100);
                for &(size, percent) in &sizes.split {
                    if percent == 0 {
                        continue;
                    }
                    bytes = size;
                    sum += u64::from(percent);
                    // fio's whole-number form of: the draw lies within the first `sum` percent of its range.
                    if drawn / sum <= hundredth && bytes <= room {
                        break;
                    }
                }
            }
            bytes = (bytes - bytes % least).min(most);
            if bytes <= room {
                return Some(bytes);
            }
        }
    }
}
