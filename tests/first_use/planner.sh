# A planner of arrays compares levels of RAID by latency, wear and the risk of losing data.
cat >levels.toml <<'END'
scenario = "array-raid5-5"
figures = ["latency_us.read.p99_9", "write_amplification.total", "array.data_loss.per_year"]
[set]
"workload.synthetic.duration" = "600ms"
[[vary]]
setting = "array.level"
values = ["raid5", "raid6", "raid10"]
END
outlast sweep levels.toml --out out/levels | tee said
grep -q "assuming a rebuild of" said
grep -q "raid6" out/levels/report.html
