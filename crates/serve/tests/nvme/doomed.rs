//! A server as a process of its own, which the tests of kills start and kill.

use std::path::PathBuf;
use std::{env, thread};

use super::kills::serve;

/// Variable that names the image, and what comes before the address.
pub(super) const IMAGE: &str = "OUTLAST_DOOMED_IMAGE";
pub(super) const ADDRESS: &str = "serves at ";

#[test]
#[allow(clippy::print_stdout, reason = "the process that began it reads the address there")]
#[ignore = "is a process of other tests, which name its image"]
fn serves_until_it_is_killed() {
    let image = PathBuf::from(env::var_os(IMAGE).expect("an image to serve"));
    let served = serve(&image);
    println!("{ADDRESS}{}", served.address);
    // Nobody lets it go on. Should the tests that began it be killed themselves, it ends when it has been idle for so long.
    thread::park_timeout(std::time::Duration::from_mins(10));
}
