# A developer of a database asks which states a loss of power can leave behind the program's own writes.
cat >workload.sh <<'END'
#!/bin/sh
echo one >"$OUTLAST_MOUNT/data" && sync && outlast ctl mark written
END
cat >check.sh <<'END'
#!/bin/sh
test -z "$OUTLAST_MARK" || grep -q one "$OUTLAST_MOUNT/data"
END
chmod +x workload.sh check.sh
outlast torture record --out run.outlast -- ./workload.sh
outlast torture check run.outlast --states 20 -- ./check.sh
