//! Compiler and profile of the program that counts, with what the profile says: counts depend on them as on the source. A new compiler or profile is thus told from a
//! regression.

use std::process::Command;

/// The workspace's file, whose profiles this program was compiled by.
const WORKSPACE: &str = include_str!("../../../../Cargo.toml");

/// The compiler and the profile of this program, with a checksum of what `Cargo.toml` says of it.
pub(super) fn of_this_program() -> String {
    let version = Command::new("rustc").arg("--version").output().ok();
    let version = version.and_then(|output| String::from_utf8(output.stdout).ok());
    let version = version.as_deref().map_or("an unknown rustc", str::trim).to_owned();
    let profile = profile();
    let lines = checksum(&profile);
    format!("{version}, profile {profile} ({lines:08x}), {}", std::env::consts::ARCH)
}

/// The name of the profile: that of the folder that this program lies in.
pub(super) fn profile() -> String {
    let program = std::env::current_exe().ok();
    let name = program.as_deref().and_then(|path| path.parent()?.file_name()?.to_str());
    name.unwrap_or("unknown").to_owned()
}

/// A checksum of the lines of `Cargo.toml` about a profile and about `release`, which it inherits from; comments do not count.
pub(super) fn checksum(profile: &str) -> u32 {
    let mut counts = false;
    let mut lines = String::new();
    for line in WORKSPACE.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(head) = line.strip_prefix("[").and_then(|rest| rest.strip_suffix("]")) {
            counts = [profile, "release"].iter().any(|name| {
                head == format!("profile.{name}") || head.starts_with(&format!("profile.{name}."))
            });
        }
        if counts {
            lines.push_str(line);
            lines.push('\n');
        }
    }
    crc32c::crc32c(lines.as_bytes())
}

/// The line about counts of another compiler or profile.
pub(super) fn another(this: &str, table: &str) -> String {
    format!(
        "the compiler or the profile is another, so that no case can be called worse: this is {this}, the table is of {table}. \
         Count anew (make bench-instructions ARGS=--write) and commit the table by itself"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_told_by_its_lines() {
        assert_ne!(checksum("ci"), checksum("release"));
        assert_eq!(checksum("no-such-profile"), checksum("release"), "what every profile inherits");
    }
}
