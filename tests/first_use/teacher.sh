# A teacher shows a class a die that fails under load, on the live page, and collection in numbers.
outlast run demo --set workload.synthetic.read_percent=0 --set run.window=20ms --out out/demo --quiet
outlast table out/demo timeseries --format csv >time.csv
outlast serve die-repair --http --name class >served 2>&1 &
for _ in $(seq 200); do outlast ctl class state >/dev/null 2>&1 && break; sleep 0.2; done
outlast ctl class fault die 3 device=1
outlast ctl class state
outlast ctl class stop
wait
