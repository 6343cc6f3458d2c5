//! The field's words for settings: what fio, `MQSim`, `SimpleSSD`, FEMU, `NVMe`, `ONFI` and papers call them.

/// Words with the setting that they mean, and what differs. A word is in lower case without punctuation, as [`folded`] makes it.
const WORDS: [(&str, &str, &str); 88] = [
    // ONFI, data sheets, papers.
    ("tr", "device.timing.read", ""),
    ("tread", "device.timing.read", ""),
    ("readlatency", "device.timing.read", ""),
    ("tprog", "device.timing.program", ""),
    ("writelatency", "device.timing.program", ""),
    ("programlatency", "device.timing.program", ""),
    ("tbers", "device.timing.erase", ""),
    ("terase", "device.timing.erase", ""),
    ("eraselatency", "device.timing.erase", ""),
    ("trcbsy", "device.timing.cache_read", ""),
    ("channelbandwidth", "device.timing.bus", ""),
    ("transferrate", "device.timing.bus", ""),
    ("ways", "device.geometry.chips_per_channel", ""),
    ("packages", "device.geometry.chips_per_channel", ""),
    ("luns", "device.geometry.dies_per_chip", ""),
    ("dies", "device.geometry.dies_per_chip", ""),
    ("planes", "device.geometry.planes_per_die", ""),
    ("oob", "device.geometry.spare_per_page", ""),
    ("sparearea", "device.geometry.spare_per_page", ""),
    ("op", "device.ftl.over_provisioning", "spare over user space"),
    ("overprovisioningratio", "device.ftl.over_provisioning", "spare over user space"),
    ("overprovisionratio", "device.ftl.over_provisioning", "spare over user space"),
    ("sparespace", "device.ftl.over_provisioning", "spare over user space"),
    ("sparefactor", "device.ftl.over_provisioning", "spare over user space"),
    ("rawcapacity", "device.ftl.capacity", "user space"),
    ("gcthreshold", "device.ftl.gc.start_free", "a number of superblocks"),
    ("threshold", "device.ftl.gc.start_free", "a number of superblocks"),
    ("watermark", "device.ftl.gc.start_free", "a number of superblocks"),
    ("lowwatermark", "device.ftl.gc.start_free", "a number of superblocks"),
    ("highwatermark", "device.ftl.gc.stop_free", "a number of superblocks"),
    ("victimpolicy", "device.ftl.gc.policy", ""),
    ("victimselection", "device.ftl.gc.policy", ""),
    ("gcpolicy", "device.ftl.gc.policy", ""),
    ("evictpolicy", "device.ftl.gc.policy", ""),
    ("dchoices", "device.ftl.gc.choices", ""),
    ("dchoiceparam", "device.ftl.gc.choices", ""),
    ("rga", "device.ftl.gc.policy", "d-choices"),
    ("maxpecycles", "device.defects.endurance", ""),
    (
        "pecycles",
        "device.defects.endurance",
        "of new flash; those that it has had are `device.initial.pe_cycles`",
    ),
    ("pelimit", "device.defects.endurance", ""),
    ("erasethreshold", "device.defects.endurance", ""),
    ("cachesize", "device.controller.write_buffer", ""),
    ("dramsize", "device.controller.write_buffer", ""),
    ("writecache", "device.controller.write_cache", ""),
    ("linkbandwidth", "device.controller.link", ""),
    ("pciebandwidth", "device.controller.link", ""),
    ("blocksize", "workload.synthetic.size", "of requests; of flash it is `device.geometry.pages_per_block`"),
    ("mttf", "run.member_mttf_hours", "in hours"),
    ("mtbf", "run.member_mttf_hours", "in hours"),
    // fio.
    ("iodepth", "workload.synthetic.queue_depth", ""),
    ("qd", "workload.synthetic.queue_depth", ""),
    ("bs", "workload.synthetic.size", ""),
    ("bssplit", "workload.synthetic.sizes", ""),
    ("rwmixread", "workload.synthetic.read_percent", ""),
    ("readratio", "workload.synthetic.read_percent", "in percent"),
    ("rw", "workload.synthetic.pattern", "with `read_percent`"),
    ("readwrite", "workload.synthetic.pattern", "with `read_percent`"),
    ("runtime", "workload.synthetic.duration", ""),
    ("numberios", "workload.synthetic.requests", ""),
    ("iosize", "workload.synthetic.bytes", ""),
    ("ramptime", "run.warm_up", ""),
    ("rampup", "run.warm_up", ""),
    ("iops", "workload.synthetic.rate_iops", ""),
    ("rate", "workload.synthetic.rate_iops", "in requests a second"),
    ("theta", "workload.synthetic.zipf_theta", ""),
    ("zipf", "workload.synthetic.pattern", "zipf, with `zipf_theta`"),
    ("zipftheta", "workload.synthetic.zipf_theta", ""),
    ("randomdistribution", "workload.synthetic.pattern", ""),
    ("randseed", "seed", ""),
    ("norandommap", "workload.fio.job", "as text of a job"),
    // MQSim.
    ("flashchannelcount", "device.geometry.channels", "outlast import mqsim reads the whole file"),
    ("chipnoperchannel", "device.geometry.chips_per_channel", "outlast import mqsim reads the whole file"),
    ("dienoperchip", "device.geometry.dies_per_chip", "outlast import mqsim reads the whole file"),
    ("planenoperdie", "device.geometry.planes_per_die", "outlast import mqsim reads the whole file"),
    ("blocknoperplane", "device.geometry.blocks_per_plane", "outlast import mqsim reads the whole file"),
    ("pagenoperblock", "device.geometry.pages_per_block", "outlast import mqsim reads the whole file"),
    ("pagecapacity", "device.geometry.page_size", "outlast import mqsim reads the whole file"),
    ("gcexecthreshold", "device.ftl.gc.start_free", "a number of superblocks"),
    ("gcblockselectionpolicy", "device.ftl.gc.policy", ""),
    ("planeallocationscheme", "device.ftl.allocation", ""),
    ("datacachecapacity", "device.controller.write_buffer", ""),
    ("stoptime", "workload.synthetic.duration", ""),
    ("readpercentage", "workload.synthetic.read_percent", ""),
    ("workingsetpercentage", "workload.synthetic.span", "with a % sign"),
    // FEMU, NVMeVirt, SimpleSSD.
    ("nchs", "device.geometry.channels", "outlast import femu reads all options"),
    ("pgrdlat", "device.timing.read", "outlast import femu reads all options"),
    ("pgwrlat", "device.timing.program", "outlast import femu reads all options"),
    ("oppcent", "device.ftl.over_provisioning", "a share: 7 % are 0.07"),
];

/// A name without case, blanks and punctuation.
fn folded(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// "; did you mean `device.timing.read`?" if `name` is a word of the field for a setting, with what differs.
pub(super) fn hint(name: &str) -> Option<String> {
    let word = folded(name);
    let (_, setting, remark) = WORDS.iter().find(|(own, ..)| *own == word)?;
    let remark = if remark.is_empty() { String::new() } else { format!(" ({remark})") };
    Some(format!("; did you mean `{setting}`{remark}?"))
}

/// The settings that words mean.
#[cfg(test)]
pub(super) fn settings() -> impl Iterator<Item = &'static str> {
    WORDS.iter().map(|(_, setting, _)| *setting)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_folded_and_there_once() {
        for (index, (word, ..)) in WORDS.iter().enumerate() {
            assert_eq!(*word, folded(word));
            assert!(!WORDS[..index].iter().any(|(other, ..)| other == word), "{word} twice");
        }
    }

    #[test]
    fn a_word_of_the_field_is_answered_with_its_setting() {
        assert_eq!(hint("tR").unwrap(), "; did you mean `device.timing.read`?");
        assert_eq!(hint("Flash_Channel_Count").unwrap().split('`').nth(1), Some("device.geometry.channels"));
        assert!(hint("chanels").is_none());
    }
}
