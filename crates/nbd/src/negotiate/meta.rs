//! Metadata contexts: `NBD_OPT_LIST_META_CONTEXT`, `NBD_OPT_SET_META_CONTEXT`.

use super::export_options::{NO_EXPORT, string};
use super::{ACK, BAD_LENGTHS, LONG_STRING, Negotiation, OptionAnswer, OptionReplies};
use crate::context::{MetaContext, MetaContexts};
use crate::reply::MessageMode;
use crate::wire::{STRING_MAX, answer, u32_at};

const NO_COLON: OptionAnswer = (answer::ERR_INVALID, "a query is a namespace, a colon and a leaf");
const NO_CHUNKS: OptionAnswer =
    (answer::ERR_INVALID, "contexts need structured replies or extended headers first");

impl Negotiation {
    /// Lists the contexts of an export, all or those that match a query. A namespace with its colon matches all contexts in it.
    pub(super) fn list_contexts(&self, replies: &mut OptionReplies<'_>, data: &[u8]) -> OptionAnswer {
        let (index, queries) = match self.queries(replies, data) {
            Ok(queries) => queries,
            Err(answer) => return answer,
        };
        let all = replies.server.exports()[index].contexts;
        let is_selected = |context: &MetaContext| {
            let (name, namespace) = (context.name().as_bytes(), context.namespace().as_bytes());
            queries.is_empty() || queries.iter().any(|&query| query == name || query == namespace)
        };
        for context in all.iter().filter(is_selected) {
            replies.reply(answer::META_CONTEXT, &[&[0; 4], context.name().as_bytes()]);
        }
        ACK
    }

    /// Selects contexts by their full names. Resets the previous selection even if it fails.
    pub(super) fn set_contexts(&mut self, replies: &mut OptionReplies<'_>, data: &[u8]) -> OptionAnswer {
        // The specification resets the selection even if the new one fails.
        self.session.contexts = None;
        let (index, queries) = match self.queries(replies, data) {
            Ok(queries) => queries,
            Err(answer) => return answer,
        };
        let all = replies.server.exports()[index].contexts;
        let is_selected = |context: &MetaContext| queries.contains(&context.name().as_bytes());
        let selected: MetaContexts = all.iter().filter(is_selected).collect();
        for context in selected.iter() {
            replies.reply(answer::META_CONTEXT, &[&context.id().to_be_bytes(), context.name().as_bytes()]);
        }
        self.session.contexts = Some((index, selected));
        ACK
    }

    /// Index of the export, and the queries. Hidden exports are reported as unknown, since these options may not answer with `NBD_REP_ERR_TLS_REQD`.
    fn queries<'d>(
        &self,
        replies: &OptionReplies<'_>,
        data: &'d [u8],
    ) -> Result<(usize, Vec<&'d [u8]>), OptionAnswer> {
        if self.session.mode == MessageMode::Simple {
            return Err(NO_CHUNKS);
        }
        let (name, remaining) = string(data).ok_or(BAD_LENGTHS)?;
        let (count, mut remaining) = remaining.split_at_checked(4).ok_or(BAD_LENGTHS)?;
        let mut queries = Vec::new();
        // Each query takes four bytes at least, so the data bounds the count.
        for _ in 0..u32_at(count, 0) {
            let query;
            (query, remaining) = string(remaining).ok_or(BAD_LENGTHS)?;
            queries.push(query);
        }
        if !remaining.is_empty() {
            return Err(BAD_LENGTHS);
        }
        if name.len() > STRING_MAX || queries.iter().any(|query| query.len() > STRING_MAX) {
            return Err(LONG_STRING);
        }
        if !queries.iter().all(|query| query.contains(&b':')) {
            return Err(NO_COLON);
        }
        let index = replies.server.find(name).ok_or(NO_EXPORT)?;
        if self.may_see(&replies.server.exports()[index]) { Ok((index, queries)) } else { Err(NO_EXPORT) }
    }
}
