#!/bin/sh
# First process of a machine: Linux's own NVMe/TCP host over a served drive, which loses its power and a die.
. /start.sh
interface
modprobe nvme_tcp
# Without these files each command of nvme-cli takes another name for the host, and the kernel refuses the second.
mkdir -p /etc/nvme
echo nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-555555555555 >/etc/nvme/hostnqn
echo 11111111-2222-3333-4444-555555555555 >/etc/nvme/hostid

connect() { # to the subsystem that was discovered, with these options
  must nvme connect -t tcp -a 10.0.2.2 -s "$ports" -n "$name" --reconnect-delay 1 --ctrl-loss-tmo 60 "$@"
  until [ -b /dev/nvme0n1 ]; do sleep 0.1; done
}

is_live() {
  [ "$(cat /sys/class/nvme/nvme0/state)" = live ]
}

name=$(nvme discover -t tcp -a 10.0.2.2 -s "$ports" | sed -n 's/^subnqn: *//p')
echo "discovered: $name"
connect
must /sbin/mke2fs -q -t ext4 /dev/nvme0n1
must mount -t ext4 /dev/nvme0n1 /mnt
dd if=/dev/urandom of=/mnt/data bs=1M count="$megabytes" conv=fsync 2>/dev/null
echo "written: $(sha256sum /mnt/data | cut -d' ' -f1)"
echo "read: $(hash_of /mnt/data)"
umount /mnt
/sbin/e2fsck -fn /dev/nvme0n1 >/dev/null 2>&1
echo "fsck: $?"
nvme disconnect -n "$name" >/dev/null

# Again, with digests of headers and of data.
connect --hdr-digest --data-digest
must mount -t ext4 /dev/nvme0n1 /mnt
echo "read with digests: $(hash_of /mnt/data)"
dd if=/dev/urandom of=/mnt/more bs=1M count=4 conv=fsync 2>/dev/null
echo "more: $(sha256sum /mnt/more | cut -d' ' -f1)"
ask cut
# The kernel connects again by itself.
until ! is_live; do sleep 0.1; done
until is_live; do sleep 0.1; done
echo "more after the cut: $(hash_of /mnt/more)"
umount /mnt
/sbin/e2fsck -fn /dev/nvme0n1 >/dev/null 2>&1
echo "fsck after the cut: $?"
echo "commands: $(nvme dsm /dev/nvme0n1 -s 0 -b 8 -d >/dev/null && nvme write-zeroes /dev/nvme0n1 -s 0 -c 7 >/dev/null &&
  nvme verify /dev/nvme0n1 -s 0 -c 63 >/dev/null && nvme copy /dev/nvme0n1 --sdlba=8 --slbs=16 --blocks=7 >/dev/null &&
  nvme flush /dev/nvme0n1 >/dev/null && nvme set-feature /dev/nvme0 -f 0x0b -v 4 >/dev/null && echo done)"

ask die
dd if=/dev/nvme0n1 of=/dev/null bs=1M conv=noerror 2>/dev/null
nvme smart-log /dev/nvme0 | sed -n 's/^critical_warning[^:]*: */critical: /p; s/^unsafe_shutdowns[^:]*: */cuts: /p'
# Get LBA Status of all blocks: its head, then first blocks and numbers of blocks. nvme-cli 2.3 has a command for it, which makes no room for the answer.
nvme admin-passthru /dev/nvme0 --opcode=0x86 --namespace-id=1 --cdw12=65535 --cdw13=0x11000000 --data-len=262144 --read --raw-binary >/list 2>/dev/null
echo "lost runs: $(od -An -tu4 -N4 /list | tr -d ' ')"
od -An -v -tu4 -j8 -w16 /list | awk '$3 > 0 { print "lost", $1, $3 }'
nvme disconnect -n "$name" >/dev/null
done_with
