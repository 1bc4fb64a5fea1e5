//! The request to a chat model in words, the beginning of its answer, and how the answer becomes a candidate.
//!
//! The answer is begun for the model where its template shows how answers begin: a block of code with the
//! function up to the place of the body. The model then writes neither prose nor the head again.

use std::sync::Arc;

use super::told::{FAILED, Told};
use crate::code::{self, HeadPart, RequestedFunction, Target};
use crate::engine::StopRules;
use crate::language::Language;
use crate::model::{Chat, PromptText};

/// The prompt in which the function is requested that `code` ends in; `facts` are messages of tests on
/// candidates that failed.
pub fn prompt(chat: &Chat, function: &RequestedFunction, code: &str, facts: &[String]) -> PromptText {
    let begun = begun(chat, function);
    let how = if begun.is_some() { Asked::Begun } else { Asked::Whole };
    let request = request(function.language, Task::Write(&function.name), code, how);
    written(chat, request, facts, begun)
}

/// Like [`prompt`], for a function of a file. The answer to a wish is begun with a comment of its words:
/// without it small models wrote the present body again (`docs/performance.md`). `None` where a part of the
/// head is asked for that the function has no place for.
pub fn of_target(chat: &Chat, target: &Target, code: &str, told: Told<'_>) -> Option<PromptText> {
    let mut function = target.requested();
    let Some(wish) = told.wish else { return Some(prompt(chat, &function, code, told.facts)) };
    let comment = |indent: &str| format!("{indent}{} {wish}\n", target.language.line_comment());
    if let Some(part) = told.part {
        function.head = comment(&function.outer) + &target.up_to(part)?;
    }
    let mut begun = begun(chat, &function);
    if let Some([_, block]) = begun.as_mut().filter(|_| told.part.is_none()) {
        *block += &comment(&function.inner);
    }
    let (task, code) = match (target.present(), code.strip_suffix(&target.stub())) {
        (Some(present), Some(before)) => (Task::Change(&function.name, wish), format!("{before}{present}")),
        (Some(present), None) => (Task::Change(&function.name, wish), format!("{code}\n\n{present}")),
        (None, _) => (Task::WriteSo(&function.name, wish), code.to_owned()),
    };
    let how = match (&begun, told.part) {
        (Some(_), _) => Asked::Begun,
        (None, Some(part)) => Asked::Anew(part),
        (None, None) => Asked::Whole,
    };
    let mut request = request(function.language, task, &code, how);
    if let Some(head) = target.changed_head().filter(|_| how == Asked::Whole) {
        let (block, fence) = block(function.language, &head);
        request = format!("{request}\n\nIts head is then:\n\n{block}{fence}");
    }
    Some(written(chat, request, told.facts, begun))
}

/// A request with what tests said, and the beginning of its answer.
fn written(chat: &Chat, request: String, facts: &[String], begun: Option<[String; 2]>) -> PromptText {
    let told = facts.iter().fold(String::new(), |all, fact| all + "\n- " + fact);
    let request = if facts.is_empty() { request } else { format!("{request}\n\n{FAILED}\n{told}") };
    let [opening, block] = begun.unwrap_or_default();
    chat.prompt(&request).with_marks(&opening).with_words(&block)
}

/// Content that an answer is to have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// The rest of the function: the answer is begun.
    Begun,
    /// The function with its parameters.
    Whole,
    /// The function with another part of the head.
    Anew(HeadPart),
}

/// The request about the function of this name; the second text is the user's.
#[derive(Clone, Copy)]
enum Task<'a> {
    Write(&'a str),
    WriteSo(&'a str, &'a str),
    Change(&'a str, &'a str),
}

/// A block of code after a fence that `code` does not have.
fn block(language: Language, code: &str) -> (String, String) {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    (format!("{fence}{}\n{code}", language.name()), fence)
}

fn request(language: Language, task: Task<'_>, code: &str, how: Asked) -> String {
    let (Task::Write(name) | Task::WriteSo(name, _) | Task::Change(name, _)) = task;
    let which = if name.is_empty() { "function".to_owned() } else { format!("function `{name}`") };
    let (block, fence) = block(language, code);
    let line_end = if code.ends_with('\n') { "" } else { "\n" };
    let title = language.title();
    let verb = match (task, how) {
        (Task::Change(..), _) => "Change",
        (_, Asked::Begun) => "Complete",
        _ => "Write",
    };
    let wish = match task {
        Task::Write(_) => ".".to_owned(),
        Task::WriteSo(_, wish) => format!(": {wish}"),
        Task::Change(_, wish) => format!(": {wish}\nKeep all else that it does."),
    };
    let same = if how == Asked::Whole { " and parameters" } else { "" };
    let left_out = if how == Asked::Anew(HeadPart::Docs) { "" } else { "its comments and docstring, " };
    let answer = format!(
        " Answer with one code block that holds this function, with the same name{same}, and the imports and helper \
         functions that it needs beyond this code; leave out {left_out}all other code, examples and explanations."
    );
    let answer = if how == Asked::Begun { "" } else { &answer };
    let words = format!("{verb} the {title} {which} at the end of this code{wish}{answer}");
    format!("{words}\n\n{block}{line_end}{fence}")
}

/// The beginning of the answer, if it is begun: as the template opens answers, and a block up to the body.
fn begun(chat: &Chat, function: &RequestedFunction) -> Option<[String; 2]> {
    let opening = chat.opening().filter(|_| !function.head.is_empty())?;
    Some([opening.to_owned(), block(function.language, &function.head).0])
}

/// Sets how the answer to such a request is read, and what tells that it is nothing but thoughts so far.
fn read_answers(rules: &mut StopRules, chat: &Chat, function: RequestedFunction) {
    // Marks that the opening closes are none of the answer's.
    let begun = begun(chat, &function).map_or_else(|| chat.begun().to_owned(), |[_, block]| block);
    let whole = move |answer: &str| format!("{begun}{answer}");
    let read_whole = whole.clone();
    rules.reading = Some(Arc::new(move |answer, over| function.read(&read_whole(answer), over)));
    rules.thinks = Some(Arc::new(move |answer| code::prose(&whole(answer)).thinks));
}

/// Sets how the text of a model becomes a candidate: the answer of a chat model is read; the text behind the
/// function's head is read where it answers all the same. Without `defaults` such a text is taken as it is.
pub fn read(rules: &mut StopRules, chat: Option<&Chat>, function: impl FnOnce() -> RequestedFunction, defaults: bool) {
    rules.repetition = defaults;
    match chat {
        Some(chat) => read_answers(rules, chat, function()),
        None if defaults => read_repeats(rules, function()),
        None => {}
    }
}

/// Sets how a text is read that a model wrote behind the function's head: as it is, unless it answers with a
/// block of code or repeats the head.
fn read_repeats(rules: &mut StopRules, function: RequestedFunction) {
    let begins = function.clone();
    rules.begins = Some(Arc::new(move |text| begins.is_answered(text)));
    rules.reading = Some(Arc::new(move |answer, over| function.read(answer, over)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Template;

    #[test]
    fn only_an_answer_with_a_head_is_begun_and_closes_thoughts() {
        let text = "{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' %}<think>\n\n</think>\n\n{% endif %}{{ m.content }}\
                    {% endfor %}{% if add_generation_prompt %}<assistant><think>\n{% endif %}";
        let template = Template { path: "chat_template.jinja".into(), text: text.to_owned(), tokens: Vec::new() };
        let chat = template.render().unwrap();
        assert_eq!(chat.opening(), Some("\n</think>\n\n"));
        let head = "def f(x):\n";
        let function = code::open_function(head).unwrap().requested();
        let is_thinking = |function: &RequestedFunction, answer: &str| {
            let mut rules = StopRules::default();
            read_answers(&mut rules, &chat, function.clone());
            rules.thinks.unwrap()(answer)
        };
        assert!(prompt(&chat, &function, head, &[]).ends_with("<think>\n\n</think>\n\n```python\ndef f(x):\n"));
        assert!(!is_thinking(&function, "    return"));
        let without = RequestedFunction { head: String::new(), ..function };
        let asked = prompt(&chat, &without, head, &[]);
        assert!(asked.contains("Answer with one code block") && asked.ends_with("<assistant><think>\n"), "{asked}");
        assert!(is_thinking(&without, "hm") && !is_thinking(&without, "hm\n</think>\ndef f(x):\n"));
    }
}
