//! Policies that stand in for user code.

use outlast_decisions::{
    DieRepairQuestion, LoadedPolicy, LostRows, OrdersRows, PolicyFactory, PolicyQuestion, QuestionPolicy,
    RebuildRateQuestion,
};
use outlast_settings::array::ArrayConfig;
use std::fmt;
use std::sync::{Arc, Mutex};

pub(crate) type PolicyReply<Q> = Result<Option<<Q as PolicyQuestion>::Answer>, String>;
type Says<Q> = Arc<dyn Fn(&Q, u32) -> PolicyReply<Q> + Send + Sync>;
/// Questions that policies of one kind got, forks included.
pub(crate) type Log<Q> = Arc<Mutex<Vec<Q>>>;

/// A policy that is a function of the question and of how many it has had, this one included.
struct Policy<Q: PolicyQuestion> {
    says: Says<Q>,
    had: u32,
    log: Log<Q>,
}

impl<Q: PolicyQuestion> fmt::Debug for Policy<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Policy({})", self.had)
    }
}

impl<Q: PolicyQuestion + Copy + Send + Sync + 'static> QuestionPolicy<Q> for Policy<Q> {
    fn decide(&mut self, question: &Q) -> PolicyReply<Q> {
        self.had += 1;
        self.log.lock().unwrap().push(*question);
        (self.says)(question, self.had)
    }

    fn fork(&self) -> Box<dyn QuestionPolicy<Q>> {
        Box::new(Self { says: Arc::clone(&self.says), had: self.had, log: Arc::clone(&self.log) })
    }
}

/// Makes policies with a function.
struct Maker<P: ?Sized>(Box<dyn Fn() -> Result<Box<P>, String> + Send + Sync>);

impl<P: ?Sized> PolicyFactory<P> for Maker<P> {
    fn name(&self) -> &'static str {
        "mine"
    }

    fn make(&self) -> Result<Box<P>, String> {
        (self.0)()
    }
}

/// A loaded policy that `make` makes.
pub(crate) fn made<P: ?Sized + 'static>(
    make: impl Fn() -> Result<Box<P>, String> + Send + Sync + 'static,
) -> LoadedPolicy<P> {
    LoadedPolicy::new(Maker(Box::new(make)))
}

/// A policy that answers by `says`, and what it will have been asked.
pub(crate) fn says<Q: PolicyQuestion + Copy + Send + Sync + 'static>(
    says: impl Fn(&Q, u32) -> PolicyReply<Q> + Send + Sync + 'static,
) -> (LoadedPolicy<dyn QuestionPolicy<Q>>, Log<Q>) {
    let (says, log): (Says<Q>, Log<Q>) = (Arc::new(says), Log::default());
    let own = Arc::clone(&log);
    let policy = made(move || {
        let policy: Box<dyn QuestionPolicy<Q>> =
            Box::new(Policy { says: Arc::clone(&says), had: 0, log: Arc::clone(&own) });
        Ok(policy)
    });
    (policy, log)
}

pub(crate) type Scores = Result<Vec<f64>, String>;
type Orders = Arc<dyn Fn(&LostRows, u32) -> Scores + Send + Sync>;

/// The same as [`Policy`], for the order of rows.
struct Order {
    scores: Orders,
    had: u32,
    log: Arc<Mutex<Vec<LostRows>>>,
}

impl fmt::Debug for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Order({})", self.had)
    }
}

impl OrdersRows for Order {
    fn order(&mut self, rows: &LostRows) -> Scores {
        self.had += 1;
        self.log.lock().unwrap().push(rows.clone());
        (self.scores)(rows, self.had)
    }

    fn fork(&self) -> Box<dyn OrdersRows> {
        Box::new(Self { scores: Arc::clone(&self.scores), had: self.had, log: Arc::clone(&self.log) })
    }
}

/// Settings with code that orders rows, and what it will have been asked.
pub(crate) fn ordered(
    config: &ArrayConfig,
    scores: impl Fn(&LostRows, u32) -> Scores + Send + Sync + 'static,
) -> (ArrayConfig, Log<LostRows>) {
    let (scores, log): (Orders, Log<LostRows>) = (Arc::new(scores), Log::default());
    let (mut config, own) = (config.clone(), Arc::clone(&log));
    config.own.repair_order = Some(made(move || {
        let order: Box<dyn OrdersRows> =
            Box::new(Order { scores: Arc::clone(&scores), had: 0, log: Arc::clone(&own) });
        Ok(order)
    }));
    (config, log)
}

/// Settings with code that decides about repairs, and what it will have been asked.
pub(crate) fn decided(
    config: &ArrayConfig,
    says_so: impl Fn(&DieRepairQuestion, u32) -> PolicyReply<DieRepairQuestion> + Send + Sync + 'static,
) -> (ArrayConfig, Log<DieRepairQuestion>) {
    let (repair, log) = says(says_so);
    let mut config = config.clone();
    config.own.repair = Some(repair);
    (config, log)
}

/// The same with code that decides about the pace.
pub(crate) fn paced(
    config: &ArrayConfig,
    says_so: impl Fn(&RebuildRateQuestion, u32) -> PolicyReply<RebuildRateQuestion> + Send + Sync + 'static,
) -> (ArrayConfig, Log<RebuildRateQuestion>) {
    let (rebuild, log) = says(says_so);
    let mut config = config.clone();
    config.own.rebuild = Some(rebuild);
    (config, log)
}
