//! Are the field's words for settings answered with ours, and numbers read as people write them?

use super::*;

#[test]
fn words_of_the_field_are_answered_with_our_names() {
    for (name, answer) in [
        ("device.timing.tR", "did you mean `device.timing.read`?"),
        ("workload.synthetic.iodepth", "did you mean `workload.synthetic.queue_depth`?"),
        ("workload.synthetic.theta", "did you mean `workload.synthetic.zipf_theta`?"),
        ("device.ftl.op", "did you mean `device.ftl.over_provisioning` (spare over user space)?"),
        ("device.geometry.Flash_Channel_Count", "did you mean `device.geometry.channels`"),
        ("iodepth", "did you mean `workload.synthetic.queue_depth`?"),
    ] {
        let message = small_with(&[(name, "7")]).unwrap_err().to_string();
        assert!(message.contains(answer), "{name}: {message}");
    }
}

#[test]
fn names_are_known_however_they_are_written_and_wherever_they_stand() {
    for (name, answer) in [
        ("device.geometry.num_channels", "did you mean `channels`?"),
        ("device.geometry.channelCount", "did you mean `channels`?"),
        ("device.geometry.pagesPerBlock", "did you mean `pages_per_block`?"),
        ("device.geometry.PAGE-SIZE", "did you mean `page_size`?"),
        ("flashChannelCount", "did you mean `device.geometry.channels`"),
        ("device.ftl.gc.GC-Exec-Threshold", "did you mean `device.ftl.gc.start_free`"),
        ("device.ftl.gc_exec_treshold", "did you mean `device.ftl.gc.start_free`"),
        ("device.timing.page_read_latency_ns", "did you mean `device.timing.read`?"),
        ("channels", "did you mean `device.geometry.channels`?"),
        ("device.pages_per_block", "did you mean `device.geometry.pages_per_block`?"),
        ("workload.synthetic.start_free", "did you mean `device.ftl.gc.start_free`?"),
        ("device.slc_cache.size", "did you mean `device.slc_cache.static_size`?"),
        ("device.ftl.slc_cache", "did you mean `device.slc_cache`"),
        ("run.seed", "did you mean `seed`?"),
        ("device.gc", "did you mean `policies.gc` or `device.ftl.gc`?"),
        ("run.duration", "`workload.synthetic.duration`"),
        ("device.pslc", "did you mean `device.slc_cache`"),
        ("device.ftl.cmt", "did you mean `device.ftl.map_cache`"),
        ("device.ftl.map_cache.cmt_capacity", "did you mean `device.ftl.map_cache.size`?"),
        ("device.heat.tmt1", "did you mean `device.heat.throttle`"),
        ("device.heat.ambient_temp", "did you mean `device.heat.ambient` (in °C)?"),
        ("device.energy.idle_power", "did you mean `device.energy.idle_watts` (in W)?"),
        ("device.zones.zone_size", "did you mean `device.zones.size`"),
        ("device.zones.mor", "did you mean `device.zones.max_open`?"),
        ("device.fdp", "did you mean `device.placement`"),
        ("device.placement.nruh", "did you mean `[[device.placement.configurations]] handles`?"),
        ("workload.zoned.max_open_zones", "did you mean `workload.zoned.zones_in_flight`?"),
        ("array.raid_devices", "did you mean `array.members`?"),
        ("array.background.speed_limit_min", "did you mean `array.background.min_rate`?"),
    ] {
        let message = small_with(&[(name, "7")]).unwrap_err().to_string();
        assert!(message.contains(answer) && message.contains("unknown setting"), "{name}: {message}");
    }
}

#[test]
fn values_of_other_programs_are_answered_with_ours() {
    for (name, value, answer) in [
        ("device.ftl.gc.policy", "RGA", "`d-choices`"),
        ("device.ftl.gc.policy", "CostBenefit", "`cost-benefit`"),
        ("device.ftl.gc.policy", "greddy", "`greedy`"),
        ("workload.synthetic.pattern", "randwrite", "`uniform`"),
        ("workload.synthetic.pattern", "zipfian", "`zipf`"),
        ("device.controller.write_cache", "write-through", "`off`"),
        ("device.controller.queues.arbitration", "WRR", "`weighted`"),
        ("array.level", "RAID-5", "`raid5`"),
        ("array.level", "raidz2", "`raid6`"),
        ("workload.trace.format", "blktrace", "`blkparse`"),
    ] {
        let message = small_with(&[(name, value)]).unwrap_err().to_string();
        let wanted = format!("{name} = \"{value}\": unknown choice; did you mean {answer}?");
        assert!(message.contains(&wanted), "{message}");
    }
    let message = small_with(&[("device.ftl.gc.policy", "wombat")]).unwrap_err().to_string();
    assert!(message.contains("known are greedy"), "{message}");
}

#[test]
fn every_word_of_the_field_means_a_setting_that_there_is() {
    let names = crate::schema::setting_names();
    for setting in crate::synonyms::settings() {
        assert!(names.contains(&setting), "{setting}");
    }
}

#[test]
fn thousands_and_percentages_are_numbers_where_they_can_mean_nothing_else() {
    let scenario =
        small_with(&[("workload.synthetic.queue_depth", "1k"), ("device.ftl.over_provisioning", "12.5%")])
            .unwrap();
    let synthetic = scenario.workload.synthetic.unwrap();
    assert_eq!(synthetic.queue_depth, Some(1000));
    assert!((scenario.device.ftl.over_provisioning.unwrap() - 0.125).abs() < 1e-12);
    let percent = small_with(&[("workload.synthetic.read_percent", "70%")]).unwrap();
    assert!((percent.workload.synthetic.unwrap().read_percent.unwrap() - 70.0).abs() < 1e-12);
    for (name, value) in [
        ("device.geometry.channels", "50%"),
        ("workload.synthetic.queue_depth", "k"),
        ("workload.synthetic.queue_depth", "1.0005k"),
        ("workload.synthetic.queue_depth", "45kk"),
        ("seed", "99999999999999999999G"),
    ] {
        let message = small_with(&[(name, value)]).unwrap_err().to_string();
        assert!(message.contains(name) && message.contains("must be"), "{message}");
    }
}

#[test]
fn a_value_that_may_mean_two_things_is_told_with_both_and_once() {
    let message = |name, value| small_with(&[(name, value)]).unwrap_err().to_string();
    for (name, value, says) in [
        ("workload.synthetic.duration", "10m", "= \"10m\": did you mean 10ms or 10min?"),
        ("workload.synthetic.span", "10m", "= \"10m\": did you mean 10MiB or 10MB?"),
        ("workload.synthetic.rate_iops", "10m", "= \"10m\": must be a number; did you mean 10M (millions;"),
        ("workload.synthetic.requests", "4K", "did you mean 4k (thousands; K is 1024 elsewhere)?"),
        ("device.timing.bus", "10M", "= \"10M\": must be a bandwidth such as"),
        ("device.geometry.channels", "8.0", "must be a whole number; write 8 without a point"),
        ("precondition.fill_fraction", "90", "for 90 %, write \"90%\""),
    ] {
        let message = message(name, value);
        assert!(message.contains(says) && message.contains(name), "{message}");
    }
}
