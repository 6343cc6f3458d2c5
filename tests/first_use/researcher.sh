# A researcher has a drive and a workload of MQSim and wants write amplification over spare space for a paper.
outlast run ssdconfig.xml 2>&1 | grep -q "outlast import mqsim"
outlast import mqsim ssdconfig.xml workload.xml -o mine.toml
outlast run mine.toml --out out/mine --quiet
cat > spare.toml <<'END'
scenario = "mine.toml"
figures = ["write_amplification.total", "latency_us.write.p99"]
[[vary]]
setting = "device.ftl.over_provisioning"
values = [0.1, 0.2, 0.3]
END
outlast sweep spare.toml --out out/spare
outlast plot out/spare write_amplification-total-0 -o waf.svg --width 3.3in
outlast table out/spare --format latex >waf.tex
