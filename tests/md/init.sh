#!/bin/sh
# Runs as the first process of the virtual machine that record.py starts: asks Linux's md what it does, and prints rows.
export PATH=/bin:/sbin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for name in null_blk raid1 raid456; do
  if [ $name = null_blk ]; then modprobe $name nr_devices=0; else modprobe $name; fi || echo "# no $name"
done
mount -t configfs config /sys/kernel/config
for i in 0 1 2 3 4 5 6 7 8 9; do
  disk=/sys/kernel/config/nullb/nullb$i
  mkdir $disk
  echo 32 >$disk/size
  echo 1 >$disk/memory_backed
  echo 1 >$disk/power
done
echo "# $(uname -r), $(mdadm --version 2>&1)"

# Resynchronisation is to wait.
echo 0 >/proc/sys/dev/raid/speed_limit_min
echo 1 >/proc/sys/dev/raid/speed_limit_max

# Sectors that each disk has read and written.
counted() {
  cat /sys/block/nullb*/stat | awk '{ print $3, $7 }'
}

disks() {
  i=0
  while [ $i -lt "$1" ]; do
    echo "/dev/nullb$i"
    i=$((i + 1))
  done
}

# level members more: an array with chunks of 4 KiB, one stripe of md's.
create() {
  level=$1 members=$2
  shift 2
  # shellcheck disable=SC2046
  mdadm --create /dev/md0 --run --level="$level" --raid-devices="$members" --chunk=4 --metadata=1.2 \
    --bitmap=none "$@" $(disks "$members") >/dev/null 2>&1 || echo "# create $level $members failed"
}

end() {
  mdadm --stop /dev/md0 >/dev/null 2>&1
  for disk in $(disks 10); do mdadm --zero-superblock "$disk" >/dev/null 2>&1; done
}

# stripe data chunks: writes so many chunks of an untouched stripe at once; prints the chunks read for it, and of how many disks something was
# both read and written.
write() {
  counted >/before
  dd if=/dev/zero of=/dev/md0 bs=$(($3 * 4096)) count=1 seek=$(($1 * $2 * 4096)) oflag=direct,seek_bytes 2>/dev/null
  sync
  counted >/after
  awk 'NR == FNR { r[FNR] = $1; w[FNR] = $2; next }
    { read += $1 - r[FNR]; if ($1 > r[FNR] && $2 > w[FNR]) both++ }
    END { print read / 8, both + 0 }' /before /after
}

# Marked active for good, so that superblocks are not written meanwhile; what the first opening reads, it has read.
settle() {
  echo 0 >/sys/block/md0/md/safe_mode_delay
  write 50 1 1 >/dev/null
  while true; do
    counted >/one
    sleep 0.2
    counted >/two
    cmp -s /one /two && break
  done
}

echo "# way level members chunks-written chunks-read disks-read-and-written"
for level in 5 6; do
  parities=$((level - 4))
  members=$((parities + 2))
  while [ $members -le 10 ]; do
    data=$((members - parities))
    create $level $members --assume-clean
    settle
    chunks=1
    while [ $chunks -le $data ]; do
      echo "idle raid$level $members $chunks $(write $((100 + chunks)) $data $chunks)"
      chunks=$((chunks + 1))
    done
    end
    # The resynchronisation of a new array, held where it begins.
    create $level $members --force
    echo frozen >/sys/block/md0/md/sync_action
    settle
    chunks=1
    while [ $chunks -le $data ]; do
      echo "resync raid$level $members $chunks $(write $((4000 + chunks)) $data $chunks)"
      chunks=$((chunks + 1))
    done
    end
    members=$((members + 1))
  done
done

# The same with members missing, in each place of a rotation: redundancy known to fit, and while a resynchronisation waits.
echo "# way level members missing stripe chunks-written chunks-read disks-read-and-written"
degraded() {
  level=$1 members=$2 failed=$3
  data=$((members - level + 4))
  for way in degraded degraded-resync; do
    if [ $way = degraded ]; then
      create "$level" "$members" --assume-clean
    else
      create "$level" "$members" --force
      echo frozen >/sys/block/md0/md/sync_action
    fi
    for disk in $(echo "$failed" | tr , ' '); do
      mdadm /dev/md0 --fail "/dev/nullb$disk" >/dev/null 2>&1
    done
    settle
    chunks=1
    while [ $chunks -le $data ]; do
      stripe=$((members * (20 + chunks)))
      while [ $stripe -lt $((members * (21 + chunks))) ]; do
        echo "$way raid$level $members $failed $stripe $chunks $(write $stripe $data $chunks)"
        stripe=$((stripe + 1))
      done
      chunks=$((chunks + 1))
    done
    end
  done
}
for members in 3 5 8; do degraded 5 $members 0; done
for members in 4 5 8; do
  for failed in 0 0,1 0,2; do degraded 6 $members $failed; done
done

# Milliseconds from a write until the array is clean; the time of day within the delay differs from one to the next.
create 5 4 --assume-clean
echo "# delay $(cat /sys/block/md0/md/safe_mode_delay)"
round=0
while [ $round -lt 12 ]; do
  sleep 0.7 && usleep $((round * 17000))
  dd if=/dev/zero of=/dev/md0 bs=4096 count=1 seek=$round oflag=direct 2>/dev/null
  from=$(awk '{ print $1 * 100 }' /proc/uptime)
  said=$(mdadm --examine /dev/nullb0 | awk '/^ *State :/ { print $3; exit }')
  while [ "$(cat /sys/block/md0/md/array_state)" != clean ]; do usleep 5000; done
  until=$(awk '{ print $1 * 100 }' /proc/uptime)
  echo "clean-after $(((until - from) * 10)) $said $(mdadm --examine /dev/nullb0 | awk '/^ *State :/ { print $3; exit }')"
  round=$((round + 1))
done
end
echo "# end"
poweroff -f
