use super::*;

fn refuse(text: &str) -> String {
    let config: ArrayConfig = toml::from_str(text).unwrap();
    config.validate().unwrap_err().to_string()
}

#[test]
fn a_short_section_is_enough() {
    let config: ArrayConfig = toml::from_str("level = \"raid5\"\nmembers = 5").unwrap();
    assert_eq!(config, ArrayConfig::new(Level::Raid5, 5));
    config.validate().unwrap();
    let text = "level = \"raid6\"\nmembers = 6\nparity_percent = [50, 10, 10, 10, 10, 10]\nwrites = \"no-reconstruct\"";
    toml::from_str::<ArrayConfig>(text).unwrap().validate().unwrap();
}

#[test]
fn bad_settings_are_refused_by_name_value_and_limit() {
    assert_eq!(
        refuse("level = \"raid6\"\nmembers = 2"),
        "array.members = 2: must be between 3 and 64 for level raid6"
    );
    assert_eq!(
        refuse("level = \"code\"\nmembers = 4\nparities = 4"),
        "array.members = 4: must be between 5 and 64 for level code"
    );
    assert_eq!(
        refuse("level = \"code\"\nmembers = 4"),
        "array.parities = 0: must be at least 1 for level code"
    );
    assert_eq!(
        refuse("level = \"raid5\"\nmembers = 4\nparities = 1"),
        "array.parities = 1: is for level code; raid5 has 1"
    );
    assert_eq!(
        refuse("level = \"raid5\"\nmembers = 3\nparity_percent = [50, 20, 20]"),
        "array.parity_percent = [50.0, 20.0, 20.0]: must sum to 100, not 90"
    );
    assert!(
        refuse("level = \"raid5\"\nmembers = 3\nparity_percent = [50, 50]").contains("each of the 3 members")
    );
    assert_eq!(
        refuse("level = \"raid5\"\nmembers = 3\ntable = [[0, 1, 2], [0, 1, 1]]"),
        "array.table[1] = [0, 1, 1]: each stripe must name each of the 3 members once"
    );
    assert!(refuse("level = \"raid5\"\nmembers = 3\ntable = []").contains("between 1 and 65536 stripes"));
    assert!(refuse("level = \"raid1\"\nmembers = 2\ntable = [[0, 1]]").contains("not raid1"));
    assert!(
        refuse("level = \"raid5\"\nmembers = 3\nparity_percent = [40, 30, 30]\ntable = [[0, 1, 2]]")
            .contains("excludes array.parity_percent")
    );
    assert!(refuse("level = \"raid4\"\nmembers = 2\nparity_percent = [100, 0]").contains("not raid4"));
    assert!(
        refuse("level = \"raid5\"\nmembers = 3\nchunk = 1000")
            .starts_with("array.chunk = 1000B: must be a multiple")
    );
    assert!(refuse("level = \"raid1\"\nmembers = 2\nconsistency = \"ppl\"").contains("level raid1"));
    assert!(refuse("level = \"raid10\"\nmembers = 2\ncopies = 1").starts_with("array.copies = 1"));
    assert!(
        refuse("level = \"raid5\"\nmembers = 3\nconsistency = \"ppl\"\nlog.size = \"64KiB\"")
            .starts_with("array.log.size = 64KiB")
    );
    let rates = "background = { min_rate = \"2MB/s\", max_rate = \"1MB/s\" }";
    assert!(
        refuse(&format!("level = \"raid5\"\nmembers = 3\n{rates}"))
            .contains("at most array.background.max_rate, 1MB/s")
    );
    assert!(toml::from_str::<ArrayConfig>("level = \"raid5\"\nmembers = 3\ncolour = 1").is_err());
}

/// A bitmap took 4 KiB of each member and was never written; a scrub read every chunk and compared none.
#[test]
fn what_needs_parity_or_copies_is_refused_for_striping() {
    for policy in ["bitmap", "ppl", "journal"] {
        assert_eq!(
            refuse(&format!("level = \"raid0\"\nmembers = 3\nconsistency = \"{policy}\"")),
            format!(
                "array.consistency = {policy}: must be resync for level raid0: without parity or copies nothing can be \
                 inconsistent"
            )
        );
    }
    let scrubbed = "background.scrub_interval = \"1h\"";
    assert_eq!(
        refuse(&format!("level = \"raid0\"\nmembers = 3\n{scrubbed}")),
        "array.background.scrub_interval = 1h: must be absent for level raid0: without parity or copies there is nothing to \
         compare"
    );
    for (level, own) in [("raid1", "bitmap"), ("raid10", "bitmap"), ("raid4", "ppl"), ("raid5", "journal")] {
        let text = format!("level = \"{level}\"\nmembers = 4\nconsistency = \"{own}\"\n{scrubbed}");
        toml::from_str::<ArrayConfig>(&text).unwrap().validate().unwrap();
    }
}
