# A researcher has a drive and a workload of MQSim and wants write amplification by policy for a paper.
! outlast run ssdconfig.xml 2>said
grep -q "outlast import mqsim" said
outlast import mqsim ssdconfig.xml workload.xml -o mine.toml
outlast run mine.toml --out out/mine --quiet
cat > policies.toml <<'END'
scenario = "mine.toml"
figures = ["write_amplification.total", "latency_us.write.p99"]
[[vary]]
setting = "device.ftl.gc.policy"
values = ["greedy", "cost-benefit", "fifo"]
END
outlast sweep policies.toml --out out/policies
outlast plot out/policies write_amplification-total-0 -o waf.svg --width 3.3in
outlast table out/policies --format latex >waf.tex
