//! `bass-tui models show`: facts about one model.

use std::fmt::Write;

use serde::Serialize;

use crate::backend::Dtype;
use crate::catalog::memory::{Need, Shape, Use};
use crate::cli::failure::Failure;
use crate::cli::memory::{gain, usage};
use crate::cli::output::print;
use crate::cli::session::Session;
use crate::hub::bytes;
use crate::language::Language;
use crate::model::{Infill, Model, Outline, Tokenizer, blocks};
use crate::untrusted::clean;

#[derive(Serialize)]
struct Details {
    name: String,
    description: String,
    license: String,
    languages: Vec<Language>,
    architecture: String,
    layers: usize,
    hidden: usize,
    vocab: usize,
    context: usize,
    parameters: usize,
    /// Number format of the stored weights.
    dtype: String,
    /// Memory of main model and candidates in bytes, by `--dtype`.
    memory: [(&'static str, u64); 3],
    /// Types whose weights take more memory than in the file.
    widened: Option<String>,
    /// The gain of int8.
    int8: Option<String>,
    /// Tokens that the tokenizer puts before a prompt.
    begins_with: Vec<String>,
    /// Text around a request, if the model is asked in a conversation.
    chat: Option<(String, String)>,
    /// True if it has a chat template, used or not.
    has_template: bool,
    /// Fill-in-the-middle tokens, if the model was trained with them.
    fill_in: Option<[&'static str; 3]>,
    draft: String,
}

pub fn run(session: &Session, name: &str, json: bool) -> Result<u8, Failure> {
    let found = session.catalog.resolve_main(Some(name)).map_err(Failure::input)?;
    let mut model = Model::load(&found.files).map_err(Failure::input)?;
    let outline = Outline::read(&found.files).map_err(Failure::input)?;
    let entry = found.entry;
    let (shape, how) = (Shape::of_model(&outline), usage(&session.settings));
    let has_template = model.has_template();
    let chat = session.settings.chat.or_else(|| entry.as_ref()?.chat.map(Into::into));
    let chat = model.chat(chat).map_err(Failure::input)?;
    let takes = |dtype| Need::of(&shape, None, Use { dtype, ..how }).bytes();
    let details = Details {
        name: model.name.clone(),
        description: entry.as_ref().map(|e| e.description.clone()).unwrap_or_default(),
        license: entry.as_ref().and_then(|e| e.license.clone()).unwrap_or_default(),
        languages: entry.as_ref().map(|e| e.languages.clone()).unwrap_or_default(),
        architecture: model.spec.architecture.to_owned(),
        layers: model.spec.blocks.len(),
        hidden: model.spec.hidden,
        vocab: model.spec.vocab_size,
        context: model.spec.context,
        parameters: model.parameters(),
        dtype: outline.stored(),
        memory: [("auto", Dtype::Auto), ("int8", Dtype::Int8), ("int4", Dtype::Int4)].map(|(n, d)| (n, takes(d))),
        widened: blocks::widened(model.types()),
        int8: gain(&shape, Dtype::Auto),
        begins_with: begins_with(&model.tokenizer),
        chat: chat.map(|chat| {
            let (before, after) = chat.around();
            (before.to_owned(), after.to_owned() + chat.opening().unwrap_or_default())
        }),
        has_template,
        fill_in: Infill::of(&model.tokenizer, &model.called).map(|kind| [kind.begin, kind.hole, kind.end]),
        draft: entry.and_then(|e| e.draft).unwrap_or_else(|| "none".to_owned()),
    };
    print(&if json { serde_json::to_string(&details).unwrap_or_default() + "\n" } else { details.text(how) })?;
    Ok(0)
}

fn begins_with(tokenizer: &Tokenizer) -> Vec<String> {
    let ids = tokenizer.encode("").unwrap_or_default();
    ids.into_iter().filter_map(|id| tokenizer.token(id)).collect()
}

impl Details {
    fn text(&self, how: Use) -> String {
        let mut out = self.name.clone() + "\n";
        let mut line = |label: &str, text: &str| {
            if !text.is_empty() {
                let _ = writeln!(out, "  {label:12}  {text}");
            }
        };
        let named: Vec<&str> = self.languages.iter().map(|l| l.title()).collect();
        let takes: Vec<String> =
            self.memory.iter().map(|(dtype, count)| format!("{dtype} {}", bytes(*count))).collect();
        line("about", &self.description);
        line("licence", &self.license);
        line("languages", &named.join(", "));
        let size =
            format!("{}, {} layers x {} wide, {} token ids", self.architecture, self.layers, self.hidden, self.vocab);
        line("architecture", &size);
        line("context", &format!("{} tokens", self.context));
        line("parameters", &format!("{:.1} million, stored as {}", self.parameters as f64 / 1e6, self.dtype));
        line(
            "memory",
            &format!(
                "{} (with {} candidates of {} tokens, without the draft model)",
                takes.join(", "),
                how.n,
                how.tokens
            ),
        );
        line("", self.widened.as_deref().unwrap_or_default());
        line("int8", self.int8.as_deref().unwrap_or_default());
        let chat = match (&self.chat, self.has_template) {
            (Some((before, after)), _) => format!("{before:?} REQUEST {after:?}"),
            (None, true) => {
                "its chat template is not used, as its name does not say that it was taught to (--chat yes)".into()
            }
            (None, false) => String::new(),
        };
        line("chat", &chat);
        line(
            "prompts",
            &if self.chat.is_some() {
                "as the chat template says".to_owned()
            } else if self.begins_with.is_empty() {
                "as they are".to_owned()
            } else {
                format!("begin with {}", self.begins_with.join(" "))
            },
        );
        line(
            "gaps",
            &self.fill_in.map_or_else(
                || "no tokens for filling in".to_owned(),
                |marks| marks.join(" ") + if self.chat.is_some() { " (with --chat no)" } else { "" },
            ),
        );
        line("draft", &self.draft);
        clean(&out)
    }
}
