use crate::{LoadedPolicy, PolicyFactory, PolicyQuestion, QuestionPolicy, QuestionValue, UserPolicy};
use outlast_units::Nanos;

crate::question! {
    /// What to do.
    struct Asked -> u32 {
        /// How many.
        count: u32,
        /// Until when.
        until: Option<Nanos>,
    }
}

/// Adds up what it was asked, up to 10.
#[derive(Clone, Debug, Default)]
struct Sums(u32);

impl QuestionPolicy<Asked> for Sums {
    fn decide(&mut self, question: &Asked) -> Result<Option<u32>, String> {
        self.0 += question.count;
        if self.0 > 10 { Err("no more".to_owned()) } else { Ok(Some(self.0).filter(|&sum| sum != 1)) }
    }

    fn fork(&self) -> Box<dyn QuestionPolicy<Asked>> {
        Box::new(self.clone())
    }
}

struct Maker(bool);

impl PolicyFactory<dyn QuestionPolicy<Asked>> for Maker {
    fn name(&self) -> &'static str {
        "mine.py:sums"
    }

    fn make(&self) -> Result<Box<dyn QuestionPolicy<Asked>>, String> {
        if self.0 { Ok(Box::new(Sums::default())) } else { Err("cannot begin".to_owned()) }
    }
}

fn asked(count: u32) -> Asked {
    Asked { count, until: None }
}

#[test]
fn a_question_has_its_fields_by_name() {
    let question = Asked { count: 3, until: Some(Nanos(7)) };
    assert_eq!(question.values(), [("count", QuestionValue::Whole(3)), ("until", QuestionValue::Whole(7))]);
    assert_eq!(asked(1).values()[1].1, QuestionValue::None);
}

#[test]
fn the_first_failure_is_kept_and_ends_the_asking() {
    let mut decider = UserPolicy::new("policies.sums", &LoadedPolicy::new(Maker(true)));
    assert_eq!(decider.decide(&asked(1), |_| Ok(())), None, "a policy may say nothing");
    assert_eq!(decider.decide(&asked(4), |_| Ok(())), Some(5));
    let mut other = decider.clone();
    assert_eq!(decider.decide(&asked(1), |&sum| Err(format!("{sum} is even"))), None);
    assert_eq!(decider.decide(&asked(1), |_| Ok(())), None, "it is not asked again");
    let failure = decider.failure().expect("a failure").to_string();
    assert_eq!(failure, "policies.sums = mine.py:sums: 6 is even; it saw count = 1, until = None");

    assert_eq!(
        other.decide(&asked(5), |_| Ok(())),
        Some(10),
        "a copy goes on from the same state, by itself"
    );
    assert_eq!(other.decide(&asked(1), |_| Ok(())), None);
    assert!(other.failure().expect("a failure").to_string().contains("no more; it saw"));
}

#[test]
fn what_cannot_be_made_is_a_failure() {
    let mut decider = UserPolicy::new("policies.sums", &LoadedPolicy::new(Maker(false)));
    assert!(decider.has_failed());
    assert_eq!(decider.decide(&asked(1), |_| Ok(())), None);
    assert_eq!(
        decider.failure().expect("a failure").to_string(),
        "policies.sums = mine.py:sums: cannot begin"
    );
}
