//! Flow control (`flow.c` of fio 3.33): jobs with one `flow_id` issue in proportion to their weights, and one that is ahead waits for the others.

/// Keys of flow control of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FlowOptions {
    /// The flow that the job belongs to (`flow_id`).
    pub(super) id: u32,
    /// Weight of the job in it (`flow`); 0: the job belongs to none.
    pub(super) weight: u32,
    /// Microseconds that the job sleeps when it is ahead (`flow_sleep`); 0: it asks again and again.
    pub(super) sleep: u64,
}

/// Jobs with one `flow_id`. As in fio each counts with its weight from the beginning, even before it begins itself, to its end; one that `exitall` ends before it
/// begins counts for ever.
#[derive(Clone, Debug)]
pub(super) struct FlowGroup {
    id: u32,
    /// Requests of all its jobs that have not ended, and one, as in fio.
    requests: u64,
    /// Weights of all its jobs that have not ended.
    weight: u64,
    /// Jobs that are ahead, and true if any may go on since they were last woken.
    waiting: Vec<u32>,
    has_moved: bool,
}

impl FlowGroup {
    /// The groups of jobs with these options, and by job the index of its group.
    pub(super) fn all(jobs: impl Iterator<Item = FlowOptions>) -> (Vec<Self>, Vec<Option<usize>>) {
        let mut groups: Vec<Self> = Vec::new();
        let group_of = |flow: FlowOptions| {
            if flow.weight == 0 {
                return None;
            }
            let index = groups.iter().position(|group| group.id == flow.id).unwrap_or_else(|| {
                groups.push(Self {
                    id: flow.id,
                    requests: 1,
                    weight: 0,
                    waiting: Vec::new(),
                    has_moved: false,
                });
                groups.len() - 1
            });
            groups[index].weight += u64::from(flow.weight);
            Some(index)
        };
        let indices = jobs.map(group_of).collect();
        (groups, indices)
    }

    /// `job`, of `flow`, ends after it has issued `requests`; those that wait are to be asked again.
    pub(super) fn leave(&mut self, job: u32, flow: FlowOptions, requests: u64) {
        self.requests -= requests;
        self.weight -= u64::from(flow.weight);
        self.waiting.retain(|own| *own != job);
        self.has_moved = true;
    }

    /// Jobs that are ahead, and were told so after the last change.
    pub(super) fn waiting(&self) -> &[u32] {
        &self.waiting
    }

    /// True if `job`, of `flow`, that has issued `own` requests may issue another, which then counts.
    pub(super) fn admit(&mut self, job: u32, flow: FlowOptions, own: &mut u64) -> bool {
        // fio compares the two ratios in double precision.
        if *own as f64 / self.requests as f64 > f64::from(flow.weight) / self.weight as f64 {
            return false;
        }
        *own += 1;
        self.requests += 1;
        self.has_moved = true;
        self.waiting.retain(|waiting| *waiting != job);
        true
    }

    /// `job` is ahead and waits for the others.
    pub(super) fn wait(&mut self, job: u32) {
        if !self.waiting.contains(&job) {
            self.waiting.push(job);
        }
    }

    /// Adds to `woken` the jobs that wait and may go on after a step of `job`, which knows how the flow stands.
    pub(super) fn take_woken(&mut self, job: u32, woken: &mut Vec<u32>) {
        if std::mem::take(&mut self.has_moved) {
            woken.extend(self.waiting.extract_if(.., |own| *own != job));
        }
    }
}
