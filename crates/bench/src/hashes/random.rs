//! Drives and loads drawn at random from a fixed seed: those of the draws that can work.

use super::NamedCase;
use outlast_engine::{Simulation, parse_text};
use outlast_units::rng::SplitMix;

/// Draws, of which about one in three works.
const DRAWS: u32 = 200;
const SEED: u64 = 20_261_122;

pub(super) fn all() -> Vec<NamedCase> {
    let mut rng = SplitMix::new(SEED, "hashes");
    let draws = (0..DRAWS).map(|index| (index, drive(&mut rng)));
    draws
        .filter_map(|(index, text)| {
            let scenario = parse_text(&text).ok()?.0;
            Simulation::check(&scenario).ok()?;
            Some(NamedCase::new(format!("random/{index:03}"), Ok(scenario)))
        })
        .collect()
}

/// Draws from lists of choices.
struct SettingDice<'a>(&'a mut SplitMix);

impl SettingDice<'_> {
    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.0.below(choices.len() as u64) as usize]
    }

    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.below(high - low)
    }

    /// `text` once in `times`, nothing otherwise.
    fn once_in(&mut self, times: u64, text: String) -> String {
        if self.0.below(times) == 0 { text } else { String::new() }
    }
}

fn drive(rng: &mut SplitMix) -> String {
    let mut dice = SettingDice(rng);
    let text = [device(&mut dice), firmware(&mut dice), trouble(&mut dice), load(&mut dice)];
    text.join("\n")
}

/// Flash and translation layer.
fn device(dice: &mut SettingDice<'_>) -> String {
    let blocks = dice.between(16, 72);
    let suspend = format!(
        "timing.suspend = {{ program = true, erase = true, overhead = \"5us\", limit = {} }}",
        dice.between(0, 4)
    );
    format!(
        "seed = {}\n[device]\ntiming.read = [\"40us\", \"60us\"]\ntiming.program = [\"300us\", \"900us\"]\n\
         timing.erase = \"3500us\"\ntiming.bus = \"800MB/s\"\ntiming.command = \"200ns\"\n{}\n\
         geometry = {{ channels = {}, chips_per_channel = {}, dies_per_chip = {}, planes_per_die = {}, \
         blocks_per_plane = {blocks}, pages_per_block = {}, page_size = \"{}\" }}\n\
         defects.factory_bad = {}\n\
         ftl.mapping_unit = \"{}\"\nftl.over_provisioning = {}\nftl.spare_blocks = {}\nftl.streams = {}\n\
         ftl.multi_plane = {}\nftl.allocation = \"{}\"",
        dice.between(0, 1 << 32),
        dice.once_in(3, suspend),
        dice.between(1, 4),
        dice.between(1, 3),
        dice.between(1, 3),
        dice.of(&[1, 2, 2, 4]),
        dice.of(&[4, 8, 12, 16]),
        dice.of(&["4KiB", "4KiB", "16KiB"]),
        dice.of(&[0.0, 0.0, 0.0, 0.02]),
        dice.of(&["4KiB", "4KiB", "4KiB", "8KiB", "512B"]),
        dice.of(&[0.2, 0.4, 0.7, 1.0, 1.5]),
        dice.of(&[0, 0, 2, 6]),
        dice.between(1, 4),
        dice.of(&[true, true, false]),
        dice.of(&["CWDP", "PDWC", "DCPW"]),
    )
}

/// Collection, wear levelling, controller, protection.
fn firmware(dice: &mut SettingDice<'_>) -> String {
    let gc = format!(
        "ftl.gc = {{ policy = \"{}\", choices = {}, pacing = {} }}",
        dice.of(&["greedy", "cost-benefit", "fifo", "d-choices"]),
        dice.between(1, 6),
        dice.of(&[true, true, false]),
    );
    let leveling = format!("ftl.wear_leveling = {{ static_gap = {} }}", dice.between(1, 5));
    let cpu = "controller.master_cost = \"700ns\"\ncontroller.read_cost = \"900ns\"\n\
               controller.write_cost = \"1100ns\"\ncontroller.relocation_cost = \"300ns\"\n\
               controller.link = \"500MB/s\"";
    let (data, parity) = dice.of(&[(2, 1), (3, 1), (7, 1), (4, 2)]);
    let partial = dice.of(&["none", "inline", "blocks", "cache"]);
    let protection = format!(
        "protection = {{ data = {data}, parity = {parity}, streams = \"{}\", partial = {{ place = \"{partial}\" }} }}",
        dice.of(&["all", "all", "gathered"]),
    );
    [
        gc,
        dice.once_in(3, leveling),
        format!(
            "controller.flash_cores = {}\ncontroller.write_cache = \"{}\"\ncontroller.write_buffer = \"{}\"\n\
             controller.queue_depth = {}\nbytes = {}",
            dice.of(&[1, 1, 1, 2]),
            dice.of(&["protected", "volatile", "off"]),
            dice.of(&["512KiB", "2MiB", "4MiB"]),
            dice.between(1, 70),
            dice.of(&[false, true]),
        ),
        dice.once_in(2, cpu.to_owned()),
        dice.once_in(2, protection),
    ]
    .join("\n")
}

/// Errors, scrubbing, hazards, loss of power.
fn trouble(dice: &mut SettingDice<'_>) -> String {
    let errors = format!(
        "reliability = {{ chip = \"tlc-72-layer\", initial = {{ pe_cycles = {} }}, ecc = {{ strength = {} }}, \
         rereads = {{ max_retries = {} }} }}",
        dice.of(&[500, 2000, 3000]),
        dice.of(&[60, 75, 100]),
        dice.between(1, 5),
    );
    let scrub = dice.of(&[
        "scrub.reads = 100",
        "scrub.patrol = \"1s\"",
        "scrub = { expected_errors = 50.0, bandwidth = \"20MB/s\" }",
        "scrub.rereads_per_unit = 0.1",
    ]);
    let hazards = "hazards.per_operation = { program = 1e-3, erase = 1e-3, read = 1e-3 }";
    let worn = dice.0.below(2) == 0;
    let errors =
        if worn { format!("{errors}\n{}", dice.once_in(2, scrub.to_owned())) } else { String::new() };
    let at = dice.between(5, 60);
    let cut = format!("[[faults]]\nat = \"{at}ms\"\nkind = \"power\"");
    [errors, dice.once_in(4, hazards.to_owned()), dice.once_in(2, cut)].join("\n")
}

/// Workload and preparation of the drive.
fn load(dice: &mut SettingDice<'_>) -> String {
    format!(
        "[precondition]\nfill = \"{}\"\noverwrite = \"{}\"\nmin_drive_writes = 0.3\nmax_drive_writes = 0.6\n\
         [run]\ntiming = \"{}\"\n[workload.synthetic]\npattern = \"{}\"\nread_percent = {}\ntrim_percent = 5\n\
         flush_every = 30\nfua_percent = 5\nalign = \"512B\"\n\
         sizes = [{{ size = \"512B\", weight = 1 }}, {{ size = \"4KiB\", weight = 4 }}, {{ size = \"20KiB\", weight = 1 }}]\n\
         {}\nrequests = 5000\n",
        dice.of(&["none", "sequential", "sequential"]),
        dice.of(&["none", "random", "workload"]),
        dice.of(&["full", "full", "full", "none"]),
        dice.of(&["uniform", "hotcold", "sequential", "zipf"]),
        dice.of(&[0, 20, 60]),
        dice.of(&["queue_depth = 1", "queue_depth = 40", "queue_depth = 8", "rate_iops = 3000"]),
    )
}
