//! What units may hold after a loss of power, torn ones included.

use super::host::{SECTOR, stamp};
use super::model::{Content, Model};
use outlast_device::Device;
use outlast_media::UnitTear;

impl Model {
    /// Power fails now. What each unit may hold afterwards is what it may fall back to, and what was being written.
    pub(crate) fn cut(&mut self) {
        self.ssd.tear_next(self.tear);
        self.ssd.power_cut(self.now);
        self.pending.clear();
        self.seq += 1;
        for unit in &mut self.units {
            unit.cut(self.seq);
        }
        self.ssd.self_check().unwrap();
    }

    /// What `found` in `unit` is, if a loss of power has left it of parts of several of `contents`.
    pub(super) fn torn_from(&self, unit: usize, contents: &[Content], found: &[u8]) -> Option<Content> {
        let is = |sector: usize, version: u64| {
            let bytes = &found[sector * SECTOR..][..SECTOR];
            if version == 0 {
                bytes.iter().all(|&byte| byte == 0)
            } else {
                bytes == stamp((unit * self.sectors + sector) as u64, version)
            }
        };
        let of =
            |sector: usize| contents.iter().map(move |content| content[sector]).find(|&own| is(sector, own));
        let torn: Content = (0..self.sectors).map(of).collect::<Option<_>>()?;
        match self.tear {
            UnitTear::Nothing => None,
            UnitTear::Torn { .. } => Some(torn),
            UnitTear::Shorn(share) => {
                let first = self.sectors * usize::from(share.parts().0) / usize::from(share.parts().1);
                let has = |range: std::ops::Range<usize>| {
                    contents.iter().any(|content| range.clone().all(|sector| is(sector, content[sector])))
                };
                (has(0..first) && has(first..self.sectors)).then_some(torn)
            }
        }
    }
}
