//! Where the time of a command goes.

outlast_units::causes! {
    /// What a command spends its time on. At every moment of its life it is one of these, in nanoseconds: their sum is its latency.
    pub enum LatencyCause;
    /// A value for each cause of latency.
    pub struct Latencies;
    Queue = "queue", "waiting for a place among the commands that the drive works on", label: "queue";
    Link = "link", "the host's own latency, and data on the link, waiting for it included", label: "host and link";
    Firmware = "firmware", "processors of the controller, waiting for them included", label: "firmware";
    Buffer = "buffer", "a write waits for room in the buffer", label: "buffer full";
    Collection = "collection", "a write waits for space, or for its share beside collection", label: "waiting for collection";
    DieRead = "die_read", "the die senses for others, or for other commands", label: "die: other reads";
    DieProgram = "die_program", "the die programs data of the host", label: "die: programs";
    DieErase = "die_erase", "the die erases", label: "die: erasures";
    DieCollection = "die_collection", "the die senses or programs for collection or a background task", label: "die: collection";
    Suspend = "suspend", "the die suspends or resumes a program or an erasure", label: "die: suspending";
    Channel = "channel", "data on the channel, that which the die moves before included, and waiting for it", label: "channel";
    Sensing = "sensing", "the page is sensed", label: "sensing";
    Decode = "decode", "the decoder works on what was read last", label: "decoding";
    Rereads = "rereads", "a decode that fails, and what is sensed, sent and decoded after it", label: "re-reads";
    Rebuild = "rebuild", "what re-reads did not give is rebuilt from its stripe", label: "rebuilding";
    Program = "program", "data that must be on flash is programmed", label: "on its way to flash";
    StripeLock = "stripe_lock", "another request of an array's host has the lock of its stripe", label: "stripe locked";
    StripeRebuild = "stripe_rebuild", "an array rebuilds, compares or mends its stripe", label: "stripe being rebuilt";
    Degraded = "degraded", "an array reads others of its stripe for what cannot be read", label: "degraded";
    Record = "record", "an array writes a mark or a record against the write hole, or waits for room for it", label: "array's records";
    Mount = "mount", "the drive mounts after a loss of power, or the array carries out its records", label: "mounting";
    Aborted = "aborted", "under way when a loss of power aborted it", label: "aborted";
}

/// The parts of one command's latency, in nanoseconds.
pub type LatencyParts = Latencies<u64>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_nothing_are_nothing() {
        let mut parts = LatencyParts::default();
        assert_eq!(parts.total(), 0);
        parts[LatencyCause::Sensing] = 60_000;
        parts[LatencyCause::Channel] = 5_000;
        assert_eq!((parts.total(), parts[LatencyCause::Link]), (65_000, 0));
    }
}
