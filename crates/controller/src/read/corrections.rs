//! How reads end.

use crate::op::OpKind;

outlast_units::counters! {
    /// Outcomes of reads, in mapping units. Reads of the host, of old data of partial writes and of relocation count alike.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, outlast_persist::Persist)]
    pub struct Corrections {
        /// Had at the first read, with what the ECC corrected.
        pub ecc: u64,
        /// Had at a re-read.
        pub reread: u64,
        /// Rebuilt from the stripe.
        pub stripe: u64,
        /// Rebuilt from the other pages of the same block(s).
        pub block: u64,
        /// Given up.
        pub uncorrectable: u64,
        /// Given up by reads with limited retry, as other reads may yet have them.
        pub limited: u64,
        /// Units that were to be rebuilt from their stripe or their block.
        pub stripe_attempts: u64,
        /// Units that neither could give.
        pub stripe_failures: u64,
    }
}

impl Corrections {
    /// A sensing for a read of kind `kind` has given `units` units.
    #[inline]
    pub fn sensed(&mut self, kind: OpKind, is_first: bool, units: u64) {
        let counts = match kind {
            OpKind::HostRead
            | OpKind::RmwRead
            | OpKind::RelocationRead
            | OpKind::MoveRead
            | OpKind::MapRead => true,
            OpKind::StripeRead | OpKind::PatrolRead | OpKind::ProbeRead | OpKind::ListRead => false,
            OpKind::HostProgram | OpKind::RelocationProgram | OpKind::Erase => {
                unreachable!("{kind:?} senses nothing")
            }
        };
        if counts {
            *(if is_first { &mut self.ecc } else { &mut self.reread }) += units;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reads_that_want_data_count() {
        let mut corrections = Corrections::default();
        for kind in [OpKind::HostRead, OpKind::RmwRead, OpKind::RelocationRead, OpKind::MapRead] {
            corrections.sensed(kind, true, 3);
            corrections.sensed(kind, false, 1);
        }
        for kind in [OpKind::StripeRead, OpKind::PatrolRead, OpKind::ProbeRead, OpKind::ListRead] {
            corrections.sensed(kind, true, 1000);
            corrections.sensed(kind, false, 1000);
        }
        assert_eq!(corrections, Corrections { ecc: 12, reread: 4, ..Corrections::default() });
    }
}
