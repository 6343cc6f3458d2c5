use super::*;
use outlast_units::Pu;
use proptest::prelude::*;

const DIES: u16 = 4;

fn read(die: u16, number: u32) -> ListRead {
    ListRead { pu: Pu(u32::from(die) * 100 + number), listed: Pu(number), count: 1 }
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Query,
    Fail(u16),
    EndRead { index: usize, is_good: bool },
    EndMark(usize),
    Erase(u16, u32),
    PowerCut { falls_back: bool },
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        3 => Just(Event::Query),
        1 => (0..DIES).prop_map(Event::Fail),
        6 => (0usize..4, prop::bool::weighted(0.9)).prop_map(|(index, is_good)| Event::EndRead { index, is_good }),
        4 => (0usize..4).prop_map(Event::EndMark),
        1 => (0..DIES, 0u32..3).prop_map(|(die, number)| Event::Erase(die, number)),
        1 => any::<bool>().prop_map(|falls_back| Event::PowerCut { falls_back }),
    ]
}

proptest! {
    /// Whatever happens: every query is searched once and only when nothing is under way; each list that is there is read in order
    /// and once between two losses of power; what could go on does.
    #[test]
    fn every_query_is_answered_after_the_lists_that_it_needs(events in prop::collection::vec(event(), 0..80)) {
        let mut lists = Lists::new(1, usize::from(DIES));
        let (mut failed, mut erased) = (Vec::new(), Vec::new());
        let (mut reads, mut marks): (Vec<(DieId, ListRead)>, Vec<DieId>) = (Vec::new(), Vec::new());
        let (mut asked, mut answered, mut done) = (0u32, Vec::new(), Vec::new());
        for event in events {
            match event {
                Event::Query => {
                    lists.wait(HostRequestId(asked), failed.iter().copied().map(DieId));
                    asked += 1;
                }
                Event::Fail(die) => if !failed.contains(&die) { failed.push(die) },
                Event::EndRead { index, is_good } => if !reads.is_empty() {
                    let (die, read) = reads.remove(index % reads.len());
                    if is_good {
                        prop_assert_eq!(lists.read_ended(die), Some(read));
                    } else {
                        prop_assert!(lists.read_failed(die));
                        prop_assert!(lists.is_gone(die));
                    }
                },
                Event::EndMark(index) => if !marks.is_empty() {
                    lists.marked([marks.remove(index % marks.len())]);
                },
                Event::Erase(die, number) => erased.push(read(die, number)),
                Event::PowerCut { falls_back } => {
                    lists.power_failed(falls_back);
                    reads.clear();
                    marks.clear();
                    done.clear();
                    answered = (0..asked).map(HostRequestId).collect();
                }
            }
            while let Some(step) = lists.next(|_, read| !erased.contains(read)) {
                match step {
                    ListStep::Begin(die) => {
                        let own = (0..3).map(|number| read(die.0, number)).collect();
                        lists.begin(die, CoreId(0), (die.0 != 3).then_some(own), 100);
                    }
                    ListStep::Read(die, read) => {
                        let before = done.iter().filter(|&&(own, _)| own == die).map(|&(_, listed)| listed);
                        prop_assert!(before.max().is_none_or(|last| last < read.listed), "read again, or out of order");
                        done.push((die, read.listed));
                        reads.push((die, read));
                    }
                    ListStep::Mark(die, request) => {
                        prop_assert!(!answered.contains(&request));
                        marks.push(die);
                    }
                    ListStep::Search(request) => {
                        prop_assert!(reads.is_empty() && marks.is_empty());
                        answered.push(request);
                    }
                }
            }
            prop_assert_eq!(lists.reads_under_way() as usize, reads.len());
            lists.self_check().unwrap();
            prop_assert!(answered.is_sorted());
            prop_assert!(answered.len() as u32 == asked || !(reads.is_empty() && marks.is_empty()));
        }
    }
}

#[test]
fn marks_are_of_the_core_and_the_page() {
    let mut lists = Lists::new(2, 2);
    lists.begin(DieId(1), CoreId(1), Some(Vec::new()), 130);
    lists.mark(CoreId(1), &[Lpn(64), Lpn(129), Lpn(1000)]);
    let marked: Vec<Lpn> = (0..2000).map(Lpn).filter(|&lpn| lists.is_marked(CoreId(1), lpn)).collect();
    assert_eq!(marked, [Lpn(64), Lpn(129)]);
    assert!(!(0..2000).map(Lpn).any(|lpn| lists.is_marked(CoreId(0), lpn)));
}
