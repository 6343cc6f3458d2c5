//! Versions of Outlast whose prepared devices this one can read.

/// Relation of the version that wrote a prepared device to the one that reads it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum VersionAge {
    /// Same minor version, or the one before; not newer.
    Readable,
    /// Newer than the reader.
    Newer,
    /// Too old for the reader.
    Older,
}

/// Relation of `writer` to `reader`; a version that is no number counts as older.
pub(super) fn version_age(writer: &str, reader: &str) -> VersionAge {
    let numbers = |version: &str| -> Option<Vec<u64>> {
        let plain = version.split(['-', '+']).next()?;
        plain.split('.').map(|part| part.parse().ok()).collect()
    };
    let (Some(writer), Some(reader)) = (numbers(writer), numbers(reader)) else {
        return VersionAge::Older;
    };
    match (&writer[..], &reader[..]) {
        _ if writer > reader => VersionAge::Newer,
        ([major, minor, ..], [reader_major, reader_minor, ..])
            if major == reader_major && minor + 1 >= *reader_minor =>
        {
            VersionAge::Readable
        }
        _ => VersionAge::Older,
    }
}

#[cfg(test)]
mod tests {
    use super::{VersionAge, version_age};

    #[test]
    fn a_version_reads_its_own_minor_version_and_the_one_before() {
        for (writer, reader, expected) in [
            ("0.1.0", "0.1.0", VersionAge::Readable),
            ("0.1.7", "0.1.9", VersionAge::Readable),
            ("0.1.0", "0.2.0", VersionAge::Readable),
            ("1.8.3", "1.9.0-rc.1", VersionAge::Readable),
            ("0.1.0", "0.3.0", VersionAge::Older),
            ("0.9.0", "1.0.0", VersionAge::Older),
            ("0.1.1", "0.1.0", VersionAge::Newer),
            ("0.2.0", "0.1.0", VersionAge::Newer),
            ("1.0.0", "0.9.0", VersionAge::Newer),
            ("something", "0.1.0", VersionAge::Older),
        ] {
            assert_eq!(version_age(writer, reader), expected, "{writer} read by {reader}");
        }
    }
}
