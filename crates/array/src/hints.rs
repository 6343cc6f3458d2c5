//! Hints to members: the commands of the host that are to come, as each member will see its part of them.

use crate::ids::ColumnIndex;
use crate::layout::{GroupLayout, to_row};
use crate::members::ArrayMembers;
use crate::roles::roles;
use outlast_device::{Command, Device, Op as HostOp};
use outlast_settings::array::MEMBERS_MAX;
use outlast_units::Lba;

/// Commands told to the members at once: enough for a list of 32 writes with one parity, chosen freely.
const AT_ONCE: usize = 64;

/// Commands told to one member in one call.
const TO_ONE: usize = 16;

/// No command: the end of a list.
const NONE: u8 = u8::MAX;

/// Commands to members, gathered so that each member is told all of its own in one call.
struct MemberHints {
    commands: [Command; AT_ONCE],
    /// For each command, the one before it for the same column.
    before: [u8; AT_ONCE],
    /// For each column, its last command.
    last: [u8; MEMBERS_MAX],
    /// Columns that have commands.
    columns: u64,
    count: u8,
}

impl MemberHints {
    const fn new() -> Self {
        Self {
            commands: [Command::FLUSH; AT_ONCE],
            before: [NONE; AT_ONCE],
            last: [NONE; MEMBERS_MAX],
            columns: 0,
            count: 0,
        }
    }

    #[inline]
    fn is_full(&self) -> bool {
        usize::from(self.count) >= AT_ONCE
    }

    /// Adds a command to the member in `column`; there must be room.
    #[inline]
    fn add(&mut self, column: ColumnIndex, command: Command) {
        let (at, column) = (usize::from(self.count), column.index());
        self.commands[at] = command;
        self.before[at] = std::mem::replace(&mut self.last[column], self.count);
        self.columns |= 1 << column;
        self.count += 1;
    }

    /// Tells each member of its commands, and forgets them.
    fn tell<D: Device>(&mut self, members: &ArrayMembers<D>) {
        let mut own = [Command::FLUSH; TO_ONE];
        for column in roles(self.columns) {
            let mut at = std::mem::replace(&mut self.last[column], NONE);
            let device = members.iter().nth(column).and_then(|column| column.device.as_ref());
            while at != NONE {
                let mut count = 0;
                for place in &mut own {
                    let Some(&command) = self.commands.get(usize::from(at)) else { break };
                    *place = command;
                    count += 1;
                    at = self.before[usize::from(at)];
                }
                if let Some(device) = device {
                    device.hint(&own[..count]);
                }
            }
        }
        (self.columns, self.count) = (0, 0);
    }
}

/// Tells each member of its parts of the commands `upcoming`, see [`Device::hint`].
#[inline(never)]
pub(crate) fn hint_members<D: Device>(layout: &GroupLayout, members: &ArrayMembers<D>, upcoming: &[Command]) {
    let mut hints = MemberHints::new();
    let capacity = layout.capacity();
    for command in upcoming.iter().filter(|command| command.op != HostOp::Flush) {
        let end = command.lba.0.saturating_add(u64::from(command.sectors));
        // The command will fail, so that there is nothing to prepare.
        if end > capacity {
            continue;
        }
        let (group, role, row) = layout.chunk_of(command.lba.0);
        let sectors = to_row(u64::from(command.sectors).min(layout.chunk - row));
        let place = layout.place(group, false);
        let (mut own, mut role) = (*command, role);
        own.sectors = sectors;
        loop {
            let (column, base) = layout.column(place, role);
            own.lba = Lba(base + row);
            if hints.is_full() {
                hints.tell(members);
            }
            hints.add(column, own);
            // A write also goes to each member that has redundancy.
            role = layout.data.max(role + 1);
            if own.op != HostOp::Write || role >= layout.roles {
                break;
            }
        }
    }
    hints.tell(members);
}
