//! Metadata contexts: `NBD_OPT_LIST_META_CONTEXT`, `NBD_OPT_SET_META_CONTEXT`.

use super::export_options::{NO_EXPORT, string};
use super::{ACK, Answer, Answering, GARBLED, LONG_STRING, Negotiation};
use crate::context::{Context, Contexts};
use crate::reply::Mode;
use crate::wire::{STRING_MAX, answer, u32_at};

const NO_COLON: Answer = (answer::ERR_INVALID, "a query is a namespace, a colon and a leaf");
const NO_CHUNKS: Answer = (answer::ERR_INVALID, "contexts need structured replies or extended headers first");

impl Negotiation {
    /// All contexts of the export, or those that the queries match; a namespace with its colon matches all in it.
    pub(super) fn list_contexts(&self, answering: &mut Answering<'_>, data: &[u8]) -> Answer {
        let (index, queries) = match self.queries(answering, data) {
            Ok(found) => found,
            Err(answer) => return answer,
        };
        let all = answering.server.exports()[index].contexts;
        let is_meant = |context: &Context| {
            let (name, namespace) = (context.name().as_bytes(), context.namespace().as_bytes());
            queries.is_empty() || queries.iter().any(|&query| query == name || query == namespace)
        };
        for context in all.iter().filter(is_meant) {
            answering.reply(answer::META_CONTEXT, &[&[0; 4], context.name().as_bytes()]);
        }
        ACK
    }

    /// Selects contexts by their full names, and forgets those selected before, whether or not this succeeds.
    pub(super) fn set_contexts(&mut self, answering: &mut Answering<'_>, data: &[u8]) -> Answer {
        self.session.contexts = None;
        let (index, queries) = match self.queries(answering, data) {
            Ok(found) => found,
            Err(answer) => return answer,
        };
        let all = answering.server.exports()[index].contexts;
        let is_meant = |context: &Context| queries.contains(&context.name().as_bytes());
        let selected: Contexts = all.iter().filter(is_meant).collect();
        for context in selected.iter() {
            answering.reply(answer::META_CONTEXT, &[&context.id().to_be_bytes(), context.name().as_bytes()]);
        }
        self.session.contexts = Some((index, selected));
        ACK
    }

    /// The number of the export, and the queries. An export that may not be shown is unknown: `NBD_REP_ERR_TLS_REQD` is not for these options.
    fn queries<'d>(
        &self,
        answering: &Answering<'_>,
        data: &'d [u8],
    ) -> Result<(usize, Vec<&'d [u8]>), Answer> {
        if self.session.mode == Mode::Simple {
            return Err(NO_CHUNKS);
        }
        let (name, rest) = string(data).ok_or(GARBLED)?;
        let (count, mut rest) = rest.split_at_checked(4).ok_or(GARBLED)?;
        let mut queries = Vec::new();
        // Each query takes four bytes at least, so the data bounds the count.
        for _ in 0..u32_at(count, 0) {
            let query;
            (query, rest) = string(rest).ok_or(GARBLED)?;
            queries.push(query);
        }
        if !rest.is_empty() {
            return Err(GARBLED);
        }
        if name.len() > STRING_MAX || queries.iter().any(|query| query.len() > STRING_MAX) {
            return Err(LONG_STRING);
        }
        if !queries.iter().all(|query| query.contains(&b':')) {
            return Err(NO_COLON);
        }
        let index = answering.server.find(name).ok_or(NO_EXPORT)?;
        if self.may_see(&answering.server.exports()[index]) { Ok((index, queries)) } else { Err(NO_EXPORT) }
    }
}
