//! Drives of scenarios in a line or two: the one place where tests of this crate write out flash.

use std::fmt;

/// Flash that is quick to simulate and has round times; tests replace it where they are about time.
const TIMING: &str = "read = \"60us\"\nprogram = \"700us\"\nerase = \"3500us\"\nbus = \"800MB/s\"\n";

/// Text of the tables `device.geometry`, `.timing`, `.ftl` and `.controller`, shown inside the rest of a scenario's text.
/// Lines of settings are TOML.
#[derive(Clone)]
pub(crate) struct DriveText {
    /// Channels, chips per channel, dies per chip, planes per die.
    dies: [u16; 4],
    blocks_per_plane: u32,
    pages_per_block: u32,
    /// Size of a page, and what else `device.geometry` has.
    pages: String,
    timing: String,
    ftl: String,
    controller: String,
}

impl DriveText {
    /// Flash with that many channels, each with one chip of one die of one plane.
    pub(crate) fn channels(channels: u16) -> Self {
        Self {
            dies: [channels, 1, 1, 1],
            blocks_per_plane: 64,
            pages_per_block: 64,
            pages: "page_size = \"4KiB\"\n".to_owned(),
            timing: TIMING.to_owned(),
            ftl: String::new(),
            controller: String::new(),
        }
    }

    /// 60 MiB in two dies with a quarter to spare: what arrays are made of.
    pub(crate) fn of_60_mib() -> Self {
        Self::channels(2).planes(2).blocks(48, 32, "16KiB").spare(0.25).buffer("1MiB")
    }

    /// 5 MiB in four dies, of which some thousand writes are enough for collection.
    pub(crate) fn of_5_mib() -> Self {
        Self::channels(2).dies(2).planes(2).blocks(24, 16, "4KiB").ftl("capacity = \"5MiB\"").buffer("256KiB")
    }

    /// 6 MiB in eight dies of two flash cores, with room for the data of a die that fails.
    pub(crate) fn of_two_cores() -> Self {
        let drive = Self::channels(4).dies(2).blocks(24, 16, "4KiB").buffer("128KiB");
        drive.ftl("capacity = \"6MiB\"\nmapping_unit = \"4KiB\"").controller("flash_cores = 2")
    }

    /// Chips on each channel.
    pub(crate) fn chips(mut self, per_channel: u16) -> Self {
        self.dies[1] = per_channel;
        self
    }

    /// Dies in each chip.
    pub(crate) fn dies(mut self, per_chip: u16) -> Self {
        self.dies[2] = per_chip;
        self
    }

    /// Planes in each die.
    pub(crate) fn planes(mut self, per_die: u16) -> Self {
        self.dies[3] = per_die;
        self
    }

    /// Blocks in each plane, of so many pages; `page_size` is a size with its unit.
    pub(crate) fn blocks(mut self, per_plane: u32, pages_per_block: u32, page_size: &str) -> Self {
        (self.blocks_per_plane, self.pages_per_block) = (per_plane, pages_per_block);
        self.pages = format!("page_size = \"{page_size}\"\n");
        self
    }

    /// Bytes of `device.geometry.spare_per_page`.
    pub(crate) fn spare_per_page(mut self, bytes: u32) -> Self {
        add(&mut self.pages, &format!("spare_per_page = \"{bytes}B\""));
        self
    }

    /// Lines of `device.timing`, instead of the usual times.
    pub(crate) fn timing(mut self, lines: &str) -> Self {
        self.timing = format!("{lines}\n");
        self
    }

    /// `device.timing.suspend`, as an inline table without its braces.
    pub(crate) fn suspend(mut self, settings: &str) -> Self {
        add(&mut self.timing, &format!("suspend = {{ {settings} }}"));
        self
    }

    /// `device.ftl.over_provisioning`.
    pub(crate) fn spare(self, over_provisioning: impl fmt::Display) -> Self {
        self.ftl(&format!("over_provisioning = {over_provisioning}"))
    }

    /// `device.ftl.gc`, as an inline table without its braces.
    pub(crate) fn gc(self, settings: &str) -> Self {
        self.ftl(&format!("gc = {{ {settings} }}"))
    }

    /// `device.controller.write_buffer`.
    pub(crate) fn buffer(self, size: &str) -> Self {
        self.controller(&format!("write_buffer = \"{size}\""))
    }

    /// More lines of `device.ftl`.
    pub(crate) fn ftl(mut self, lines: &str) -> Self {
        add(&mut self.ftl, lines);
        self
    }

    /// More lines of `device.controller`.
    pub(crate) fn controller(mut self, lines: &str) -> Self {
        add(&mut self.controller, lines);
        self
    }
}

impl fmt::Display for DriveText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [channels, chips, dies, planes] = self.dies;
        let Self { blocks_per_plane, pages_per_block, pages, timing, ftl, controller, .. } = self;
        write!(
            f,
            "[device.geometry]\nchannels = {channels}\nchips_per_channel = {chips}\ndies_per_chip = {dies}\n\
             planes_per_die = {planes}\nblocks_per_plane = {blocks_per_plane}\npages_per_block = {pages_per_block}\n\
             {pages}[device.timing]\n{timing}[device.ftl]\n{ftl}[device.controller]\n{controller}"
        )
    }
}

fn add(table: &mut String, lines: &str) {
    table.push_str(lines);
    table.push('\n');
}
