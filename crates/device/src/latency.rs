//! Where the time of a command goes.

outlast_units::causes! {
    /// What a command spends its time on. At every moment of its life it is one of these, in nanoseconds: their sum is its latency.
    pub enum LatencyCause;
    /// A value for each cause of latency.
    pub struct Latencies;
    Queue = "queue", "waiting for a place among the commands in progress", label: "queue";
    Link = "link", "host latency, and data on the link, including waiting for it", label: "host and link";
    Firmware = "firmware", "processors of the controller, including waiting for them", label: "firmware";
    Map = "map", "the page of the mapping table that has the entry is read from flash", label: "mapping table";
    Buffer = "buffer", "a write waits for room in the buffer", label: "buffer full";
    Collection = "collection", "a write waits for space, or for its share beside collection", label: "waiting for collection";
    DieRead = "die_read", "the die senses for others, or for other commands", label: "die: other reads";
    DieProgram = "die_program", "the die programs host data", label: "die: programs";
    DieErase = "die_erase", "the die erases", label: "die: erasures";
    DieCollection = "die_collection", "the die senses or programs for collection or a background task", label: "die: collection";
    Suspend = "suspend", "the die suspends or resumes a program or an erase", label: "die: suspending";
    Channel = "channel", "data on the channel, including earlier data of the die, and waiting for it", label: "channel";
    Sensing = "sensing", "the page is sensed", label: "sensing";
    Decode = "decode", "the decoder works on the last data read", label: "decoding";
    Rereads = "rereads", "a failed decode, and the sensing, transfer and decoding after it", label: "re-reads";
    Rebuild = "rebuild", "data that re-reads could not give is rebuilt from its stripe", label: "rebuilding";
    Program = "program", "data that must be on flash is programmed", label: "on its way to flash";
    StripeLock = "stripe_lock", "another request of an array's host has the lock of its stripe", label: "stripe locked";
    StripeRebuild = "stripe_rebuild", "an array rebuilds, compares or repairs its stripe", label: "stripe being rebuilt";
    Degraded = "degraded", "an array reads other members of the stripe in place of data that cannot be read", label: "degraded";
    Record = "record", "an array writes a mark or a record against the write hole, or waits for room for it", label: "array's records";
    Mount = "mount", "the drive mounts after a loss of power, or the array replays its records", label: "mounting";
    Throttle = "throttle", "the drive is too warm and lets commands in slowly, or wakes from a state of rest", label: "too warm or asleep";
    Aborted = "aborted", "in progress until a loss of power aborted it", label: "aborted";
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
