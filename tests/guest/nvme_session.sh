#!/bin/sh
# First process of a machine: a session of Linux with a served drive that loses a die, printed for the guide. Each line of it begins with "| ".
. /start.sh
interface
modprobe nvme_tcp
mkdir -p /etc/nvme
echo nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-555555555555 >/etc/nvme/hostnqn
echo 11111111-2222-3333-4444-555555555555 >/etc/nvme/hostid

show() { # a command, and what it prints
  echo "| # $1"
  sh -c "$1" 2>&1 | sed 's/[[:space:]]*$//; s/^/| /'
}

cd /tmp || exit
nvme connect -t tcp -a 10.0.2.2 -s "$ports" -n nqn.2026-11.org.outlast:my-drive
until [ -b /dev/nvme0n1 ]; do sleep 0.1; done
nvme smart-log /dev/nvme0 >/dev/null
show "dd if=/dev/urandom of=copy bs=1M count=8 2>/dev/null && dd if=copy of=/dev/nvme0n1 bs=1M conv=fsync 2>/dev/null"
show "sha256sum < copy | cut -c 1-16"
ask die
show "head -c 8388608 /dev/nvme0n1 | sha256sum | cut -c 1-16"
show "nvme smart-log /dev/nvme0 | grep -E 'critical_warning|media_errors'"
cat >/bin/lost <<'END'
#!/bin/sh
nvme admin-passthru /dev/nvme0 --opcode=0x86 --namespace-id=1 --cdw12=16383 --cdw13=0x11000000 --data-len=65536 --read --raw-binary 2>/dev/null |
  od -An -v -tu4 -j8 -w16 | awk '$3 > 0 { print $1 / 8, $3 / 8 }'
END
chmod +x /bin/lost
sed 's/^/| /; s/^| #!.*/| # cat lost/' /bin/lost
show "lost | head -n 3; lost | awk '{ n += \$2 } END { print NR, \"runs,\", n * 4, \"KiB\" }'"
show "lost | while read first count; do dd if=copy of=/dev/nvme0n1 bs=4096 skip=\$first seek=\$first count=\$count conv=fsync 2>/dev/null; done"
show "lost | wc -l; echo 3 > /proc/sys/vm/drop_caches; head -c 8388608 /dev/nvme0n1 | sha256sum | cut -c 1-16"
nvme disconnect -n nqn.2026-11.org.outlast:my-drive >/dev/null
done_with
