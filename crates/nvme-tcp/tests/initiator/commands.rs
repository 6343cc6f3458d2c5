//! Commands, byte by byte as the specifications have them.

/// A command with its data.
#[derive(Clone, Debug)]
pub(crate) struct WireCommand {
    pub(crate) entry: [u8; 64],
    /// Data for the controller.
    pub(crate) data: Vec<u8>,
    /// Bytes that the controller returns.
    pub(crate) returns: usize,
}

impl WireCommand {
    /// A command of this opcode for a namespace, with dwords 10 to 15.
    pub(crate) fn new(opcode: u8, namespace: u32, dwords: [u32; 6]) -> Self {
        let mut entry = [0; 64];
        entry[0] = opcode;
        entry[4..8].copy_from_slice(&namespace.to_le_bytes());
        for (place, dword) in entry[40..].chunks_exact_mut(4).zip(dwords) {
            place.copy_from_slice(&dword.to_le_bytes());
        }
        Self { entry, data: Vec::new(), returns: 0 }
    }

    /// The same command for another namespace.
    pub(crate) fn of(mut self, namespace: u32) -> Self {
        self.entry[4..8].copy_from_slice(&namespace.to_le_bytes());
        self
    }

    /// The same command with dword `number` combined with `bits`.
    pub(crate) fn with_dword(mut self, number: usize, bits: u32) -> Self {
        let place = &mut self.entry[number * 4..number * 4 + 4];
        let before = u32::from_le_bytes(place.try_into().unwrap());
        place.copy_from_slice(&(before | bits).to_le_bytes());
        self
    }

    /// The same command with its data placed through placement handle `value` (type 2 of directive).
    pub(crate) fn placed(self, value: u16) -> Self {
        self.with_dword(12, 2 << 20).with_dword(13, u32::from(value) << 16)
    }

    /// A log page of endurance group 1, with a parameter.
    pub(crate) fn group_log(page: u32, bytes: u32, parameter: u32) -> Self {
        Self::log_page(page | parameter << 8, bytes, 0).with_dword(11, 1 << 16)
    }

    /// I/O Management Receive: the status of placement handles.
    pub(crate) fn handle_status(bytes: u32) -> Self {
        Self::new(0x12, 1, [1, bytes / 4 - 1, 0, 0, 0, 0]).returning(bytes as usize)
    }

    /// I/O Management Send: placement handles are to refer to empty reclaim units.
    pub(crate) fn update_handles(values: &[u16]) -> Self {
        let data = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Self::new(0x1D, 1, [1 | (values.len() as u32 - 1) << 16, 0, 0, 0, 0, 0]).with_data(data)
    }

    pub(crate) fn with_data(self, data: Vec<u8>) -> Self {
        Self { data, ..self }
    }

    pub(crate) fn returning(self, returns: usize) -> Self {
        Self { returns, ..self }
    }

    pub(crate) fn connect(nqn: &str, host: &str, queue: u16, controller: u16) -> Self {
        let mut entry = [0; 64];
        (entry[0], entry[4]) = (0x7F, 0x01);
        entry[42..44].copy_from_slice(&queue.to_le_bytes());
        entry[44..46].copy_from_slice(&127_u16.to_le_bytes());
        if queue == 0 {
            entry[48..52].copy_from_slice(&5000_u32.to_le_bytes());
        }
        let mut data = vec![0; 1024];
        // The identifier of a host goes with its name.
        data[..16].fill(host.len() as u8);
        data[16..18].copy_from_slice(&controller.to_le_bytes());
        data[256..256 + nqn.len()].copy_from_slice(nqn.as_bytes());
        data[512..512 + host.len()].copy_from_slice(host.as_bytes());
        Self { entry, data, returns: 0 }
    }

    pub(crate) fn set_property(offset: u32, value: u64) -> Self {
        let mut entry = [0; 64];
        entry[0] = 0x7F;
        entry[44..48].copy_from_slice(&offset.to_le_bytes());
        entry[48..56].copy_from_slice(&value.to_le_bytes());
        Self { entry, data: Vec::new(), returns: 0 }
    }

    pub(crate) fn get_property(offset: u32, is_long: bool) -> Self {
        let mut entry = [0; 64];
        (entry[0], entry[4], entry[40]) = (0x7F, 0x04, u8::from(is_long));
        entry[44..48].copy_from_slice(&offset.to_le_bytes());
        Self { entry, data: Vec::new(), returns: 0 }
    }

    pub(crate) fn identify(structure: u32, namespace: u32) -> Self {
        Self::new(0x06, namespace, [structure, 0, 0, 0, 0, 0]).returning(4096)
    }

    pub(crate) fn log_page(page: u32, bytes: u32, offset: u32) -> Self {
        let dwords = bytes / 4 - 1;
        let low = page | (dwords & 0xFFFF) << 16;
        Self::new(0x02, 0xFFFF_FFFF, [low, dwords >> 16, offset, 0, 0, 0]).returning(bytes as usize)
    }

    pub(crate) fn feature(number: u32) -> Self {
        Self::new(0x0A, 0, [number, 0, 0, 0, 0, 0])
    }

    pub(crate) fn set_feature(number: u32, value: u32) -> Self {
        Self::new(0x09, 0, [number, value, 0, 0, 0, 0])
    }

    pub(crate) fn event_request() -> Self {
        Self::new(0x0C, 0, [0; 6])
    }

    /// Get LBA Status of `blocks` blocks from `first` on, 0 for all, in so many bytes.
    pub(crate) fn lba_status(first: u64, blocks: u16, bytes: u32) -> Self {
        let (low, high) = (first as u32, (first >> 32) as u32);
        let dwords = [low, high, bytes / 4 - 1, u32::from(blocks) | 0x11 << 24, 0, 0];
        Self::new(0x86, 1, dwords).returning(bytes as usize)
    }

    /// A command on `blocks` blocks from `lba` on, with flags in dword 12.
    pub(crate) fn range(opcode: u8, lba: u64, blocks: u64, flags: u32) -> Self {
        let dwords = [lba as u32, (lba >> 32) as u32, (blocks - 1) as u32 | flags, 0, 0, 0];
        Self::new(opcode, 1, dwords)
    }

    pub(crate) fn read(lba: u64, blocks: u64) -> Self {
        Self::range(0x02, lba, blocks, 0).returning(blocks as usize * 512)
    }

    pub(crate) fn write(lba: u64, data: Vec<u8>, fua: bool) -> Self {
        Self::range(0x01, lba, data.len() as u64 / 512, u32::from(fua) << 30).with_data(data)
    }

    pub(crate) fn compare(lba: u64, data: Vec<u8>) -> Self {
        Self::range(0x05, lba, data.len() as u64 / 512, 0).with_data(data)
    }

    pub(crate) fn flush() -> Self {
        Self::new(0x00, 1, [0; 6])
    }

    pub(crate) fn write_zeroes(lba: u64, blocks: u64, may_deallocate: bool) -> Self {
        Self::range(0x08, lba, blocks, u32::from(may_deallocate) << 25)
    }

    pub(crate) fn verify(lba: u64, blocks: u64) -> Self {
        Self::range(0x0C, lba, blocks, 0)
    }

    /// Deallocation of ranges, each of a first block and a number of blocks.
    pub(crate) fn deallocate(ranges: &[(u64, u32)]) -> Self {
        let mut data = Vec::new();
        for (lba, blocks) in ranges {
            data.extend([0; 4]);
            data.extend(blocks.to_le_bytes());
            data.extend(lba.to_le_bytes());
        }
        Self::new(0x09, 1, [ranges.len() as u32 - 1, 4, 0, 0, 0, 0]).with_data(data)
    }

    /// Copy of ranges, each of a first block and a number of blocks, to `lba`.
    pub(crate) fn copy(ranges: &[(u64, u16)], lba: u64) -> Self {
        let mut data = Vec::new();
        for (from, blocks) in ranges {
            let mut range = [0; 32];
            range[8..16].copy_from_slice(&from.to_le_bytes());
            range[16..18].copy_from_slice(&(blocks - 1).to_le_bytes());
            data.extend(range);
        }
        let dwords = [lba as u32, (lba >> 32) as u32, ranges.len() as u32 - 1, 0, 0, 0];
        Self::new(0x19, 1, dwords).with_data(data)
    }
}
