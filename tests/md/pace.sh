#!/bin/sh
# Runs as the first process of the virtual machine that record.py starts: how fast does Linux's md fill a member beside a host, between which
# limits? Prints a row for each answer.
export PATH=/bin:/sbin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for name in null_blk raid1 raid10 raid456; do
  if [ $name = null_blk ]; then modprobe $name nr_devices=0; else modprobe $name; fi || echo "# no $name"
done
mount -t configfs config /sys/kernel/config
# Each command takes 20 ms, however many there are at once: the guest's processor is no limit, nor does the host take md's turn.
for i in 0 1 2 3 4 5; do
  disk=/sys/kernel/config/nullb/nullb$i
  mkdir $disk
  echo 80 >$disk/size
  echo 1 >$disk/memory_backed
  echo 2 >$disk/irqmode
  echo 20000000 >$disk/completion_nsec
  echo 1024 >$disk/hw_queue_depth
  echo 1 >$disk/power
done
dmesg -n 1
echo "# $(uname -r), $(mdadm --version 2>&1)"

disks() {
  i=0
  while [ $i -lt "$1" ]; do
    echo "/dev/nullb$i"
    i=$((i + 1))
  done
}

limits() { # KiB/s
  # Neither may pass the other on the way.
  echo 0 >/proc/sys/dev/raid/speed_limit_min
  echo "$2" >/proc/sys/dev/raid/speed_limit_max
  echo "$1" >/proc/sys/dev/raid/speed_limit_min
}

# number direction bytes milliseconds: requests one after the other, each so long after the end of the one before; none: one reader or
# writer that goes on and on.
load() {
  n=$(($1 * 1000 + round * 77))
  blocks=$(((space - first) * 1024 / $3))
  count=$blocks
  [ "$4" = 0 ] || count=1
  while [ -e /go ]; do
    at=$((first * 1024 / $3 + n * 7919 % blocks))
    if [ "$2" = write ]; then
      dd if=/dev/zero of=/dev/md0 bs="$3" count=$count seek=$at oflag=direct conv=notrunc 2>/dev/null
    else
      dd if=/dev/md0 of=/dev/null bs="$3" count=$count skip=$at iflag=direct 2>/dev/null
    fi
    n=$((n + 1))
    [ "$4" = 0 ] || usleep $(($4 * 1000))
  done
}

# Seconds between the two lines of the kernel about a pass.
took() {
  dmesg | awk '{ gsub(/[][]/, " ") } / of RAID array md0/ { from = $1 } /md0: .* (done|interrupted)/ { until = $1 } END { printf "%.3f\n", until - from }'
}

# level members kind min max load direction bytes milliseconds loops
measure() {
  level=$1 members=$2 kind=$3
  # md's mirrors keep the host out of the 64 MiB at which they work: the host is beyond them, as it is nearly always in a large array.
  first=0 size=24576
  [ "$level" = 1 ] && first=65536 size=69632
  # shellcheck disable=SC2046
  mdadm --create /dev/md0 --run --level="$level" --raid-devices="$members" $([ "$level" = 1 ] || echo --chunk=64) \
    --size=$size --metadata=1.2 --bitmap=none --assume-clean $(disks "$members") >/dev/null 2>&1 || echo "# create $level failed"
  # Marked active for good, so that superblocks are not written meanwhile.
  echo 0 >/sys/block/md0/md/safe_mode_delay
  limits "$4" "$5"
  space=$(($(cat /sys/block/md0/size) / 2))
  touch /go
  loop=0
  while [ $loop -lt "${10}" ]; do
    load $loop "$7" "$8" "$9" &
    loop=$((loop + 1))
  done
  sleep 1
  dmesg -c >/dev/null
  if [ "$kind" = recover ]; then
    mdadm /dev/md0 --fail /dev/nullb1 >/dev/null 2>&1
    sleep 0.2
    mdadm /dev/md0 --remove /dev/nullb1 >/dev/null 2>&1
    mdadm --zero-superblock /dev/nullb1 >/dev/null 2>&1
    dmesg -c >/dev/null
    mdadm /dev/md0 --add /dev/nullb1 >/dev/null 2>&1
  else
    echo "$kind" >/sys/block/md0/md/sync_action
  fi
  sleep 0.2
  while [ "$(cat /sys/block/md0/md/sync_action)" != idle ]; do sleep 0.1; done
  rm -f /go
  killall dd 2>/dev/null
  wait
  echo "pace raid$level $members $kind $4 $5 $6 $size $(took)"
  mdadm --stop /dev/md0 >/dev/null 2>&1
  for disk in $(disks 6); do mdadm --zero-superblock "$disk" >/dev/null 2>&1; done
}

# `array` comes from whoever starts the machine: LEVEL:MEMBERS.
echo "# pace level members pass min max load KiB seconds"
level=${array%:*} members=${array#*:}
for round in 0 1; do
  set -- "$level" "$members"
  measure "$@" recover 1000 200000 none read 4096 0 0
  measure "$@" recover 1000 200000 trickle read 4096 250 1
  measure "$@" recover 1000 200000 one-4k read 4096 0 1
  measure "$@" recover 1000 200000 two-256k read 262144 0 2
  if [ "$level" = 5 ]; then
    measure "$@" recover 8000 200000 two-256k read 262144 0 2
    measure "$@" recover 1000 4000 none read 4096 0 0
    measure "$@" recover 1000 200000 writes-192k write 196608 0 2
  fi
  if [ "$level" = 6 ]; then
    measure "$@" check 1000 200000 none read 4096 0 0
    measure "$@" check 1000 200000 two-256k read 262144 0 2
  fi
done
echo "# end"
poweroff -f
