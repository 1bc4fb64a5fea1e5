//! The key table: every action with its name, its default keys, and what help and footer say of it.
//!
//! Dispatch, help and footer read this one table, so what is shown is what works.

use std::collections::BTreeMap;

use super::event::{Code, Key};

/// Where a key counts. A key without a meaning in its context is looked up in `Global`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Context {
    Global,
    /// Nothing generated yet and the prompt not being edited.
    Start,
    Prompt,
    Panes,
    /// The panel with test results.
    Results,
    /// The table of calls.
    Calls,
    /// The right answer to a call is typed.
    Answer,
    /// A change of the function is typed.
    Wish,
    /// The view of differences.
    Diff,
    /// A text to search for is typed.
    Search,
    /// The picker of functions.
    Picker,
    /// The list of actions and settings.
    Palette,
    Help,
    /// A yes-or-no question.
    Question,
}

impl Context {
    /// All contexts with their names in settings and help, in the order of the help.
    const ALL: [(Context, &'static str); 14] = [
        (Context::Global, "global"),
        (Context::Start, "start"),
        (Context::Prompt, "prompt"),
        (Context::Panes, "panes"),
        (Context::Results, "results"),
        (Context::Calls, "calls"),
        (Context::Answer, "answer"),
        (Context::Wish, "wish"),
        (Context::Diff, "diff"),
        (Context::Search, "search"),
        (Context::Picker, "picker"),
        (Context::Palette, "palette"),
        (Context::Help, "help"),
        (Context::Question, "question"),
    ];

    pub fn all() -> impl Iterator<Item = Context> {
        Self::ALL.into_iter().map(|(context, _)| context)
    }

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(c, _)| *c == self).map_or("", |(_, name)| name)
    }

    /// Letters are text here, and mean nothing else.
    pub fn is_typed(self) -> bool {
        matches!(self, C::Prompt | C::Answer | C::Wish | C::Search | C::Picker | C::Palette)
    }
}

/// Something a key can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    Interrupt,
    Suspend,
    Help,
    Redraw,
    Generate,
    Regenerate,
    Round,
    FocusNext,
    FocusPrevious,
    FocusPrompt,
    Wish,
    FocusPanes,
    FocusPane,
    Quit,
    QuitOnEmpty,
    Submit,
    Newline,
    HistoryPrevious,
    HistoryNext,
    Accept,
    Undo,
    ReadAgain,
    StopOne,
    StopAll,
    More,
    Fewer,
    Zoom,
    EarlierRun,
    LaterRun,
    Results,
    Calls,
    Answer,
    TypeAnswer,
    OwnCall,
    Forget,
    Example,
    TestAgain,
    Copy,
    CopyProgram,
    Wrap,
    Output,
    Arrange,
    Diff,
    Preview,
    Mark,
    Split,
    Base,
    NextHunk,
    PreviousHunk,
    TakeHunk,
    Edit,
    SavePatch,
    Search,
    Filter,
    NextFound,
    PreviousFound,
    Leave,
    Unfold,
    Colour,
    NextToken,
    PreviousToken,
    Said,
    Mouse,
    PaneLeft,
    PaneRight,
    PaneUp,
    PaneDown,
    LineUp,
    LineDown,
    ColumnLeft,
    ColumnRight,
    PageUp,
    PageDown,
    Top,
    Bottom,
    Close,
    Pick,
    Palette,
    Settings,
    Keep,
    CompletePath,
    Choose,
    NextTarget,
    Watch,
    Yes,
    No,
}

/// An action of a context and its default keys.
#[derive(Clone, Copy, Debug)]
pub struct KeyBinding {
    pub action: Action,
    /// Its name in settings.
    pub name: &'static str,
    /// Where its keys count.
    pub context: Context,
    /// Keys unless the user says otherwise.
    pub keys: &'static [&'static str],
    /// Text in the help.
    pub label: &'static str,
    /// Text in the footer; empty for actions it does not show. The order of bindings is the order of hints.
    pub hint: &'static str,
}

const fn binding(
    context: Context,
    action: Action,
    name: &'static str,
    keys: &'static [&'static str],
    label: &'static str,
    hint: &'static str,
) -> KeyBinding {
    KeyBinding { action, name, context, keys, label, hint }
}

use Action as A;
use Context as C;

/// All actions. Within a context a key occurs once.
#[rustfmt::skip]
pub const TABLE: &[KeyBinding] = &[
    binding(C::Global, A::Generate, "generate", &["f5"], "write candidates", ""),
    binding(C::Global, A::FocusNext, "focus-next", &["tab"], "next pane", ""),
    binding(C::Global, A::FocusPrevious, "focus-previous", &["shift-tab"], "previous pane", ""),
    binding(C::Global, A::FocusPane, "focus-pane", &["alt-1", "alt-2", "alt-3", "alt-4", "alt-5", "alt-6", "alt-7", "alt-8", "alt-9"], "pane with this number", ""),
    binding(C::Global, A::Pick, "pick", &["ctrl-t"], "choose a function to complete", ""),
    binding(C::Global, A::Palette, "palette", &["ctrl-p"], "all actions and settings, to choose from", ""),
    binding(C::Global, A::Help, "help", &["f1"], "this help", ""),
    binding(C::Global, A::Redraw, "redraw", &["ctrl-l"], "draw the screen anew", ""),
    binding(C::Global, A::Suspend, "suspend", &["ctrl-z"], "back to the shell, fg returns", ""),
    binding(C::Global, A::Interrupt, "interrupt", &["ctrl-c"], "close, stop, clear, then twice to quit", ""),

    binding(C::Start, A::Generate, "generate", &["enter", "g"], "write candidates", "generate"),
    binding(C::Start, A::Wish, "wish", &["I"], "say in a sentence what to change in the function", "say what to change"),
    binding(C::Start, A::FocusPrompt, "focus-prompt", &["i"], "edit the prompt", "edit prompt"),
    binding(C::Start, A::Pick, "pick", &["ctrl-t"], "choose a function to complete", "functions"),
    binding(C::Start, A::Undo, "undo", &["u"], "take back what was written in this session", "undo"),
    binding(C::Start, A::Help, "help", &["?"], "this help", "help"),
    binding(C::Start, A::Palette, "palette", &[":"], "all actions and settings, to choose from", "actions"),
    binding(C::Start, A::Settings, "settings", &[","], "the settings, to change them", ""),
    binding(C::Start, A::Quit, "quit", &["q", "ctrl-d"], "leave", "quit"),
    binding(C::Start, A::More, "more", &["+", "="], "one candidate more", "more"),
    binding(C::Start, A::Fewer, "fewer", &["-"], "one candidate fewer", "fewer"),
    binding(C::Start, A::ReadAgain, "read-again", &["r"], "read the file again, as it is now", ""),
    binding(C::Start, A::EarlierRun, "earlier-run", &["["], "the last run of this function", ""),
    binding(C::Start, A::NextTarget, "next-target", &["ctrl-n"], "next unfinished function", ""),
    binding(C::Start, A::LineDown, "line-down", &["down", "j"], "scroll down", ""),
    binding(C::Start, A::LineUp, "line-up", &["up", "k"], "scroll up", ""),
    binding(C::Start, A::PageDown, "page-down", &["pgdn"], "page down", ""),
    binding(C::Start, A::PageUp, "page-up", &["pgup"], "page up", ""),
    binding(C::Start, A::Watch, "watch", &["F"], "follow the editor: a stub that is saved is written at once", ""),
    binding(C::Start, A::Mouse, "mouse", &["m"], "mouse on or off: wheel scrolls, click focuses", ""),

    binding(C::Prompt, A::Submit, "submit", &["enter"], "write candidates (in code: new line, on an empty last line write)", "generate"),
    binding(C::Prompt, A::Newline, "newline", &["alt-enter", "shift-enter", "ctrl-j"], "new line", "new line"),
    binding(C::Prompt, A::FocusPanes, "focus-panes", &["esc"], "leave the prompt", "leave prompt"),
    binding(C::Prompt, A::HistoryPrevious, "history-previous", &["up"], "earlier prompt, on the first line", ""),
    binding(C::Prompt, A::HistoryNext, "history-next", &["down"], "later prompt, on the last line", ""),
    binding(C::Prompt, A::QuitOnEmpty, "quit-on-empty", &["ctrl-d"], "leave, when the prompt is empty", ""),

    binding(C::Panes, A::Accept, "accept", &["enter", "a"], "take this candidate", "accept"),
    binding(C::Panes, A::ReadAgain, "read-again", &["r"], "read the file again, as it is now", "read file"),
    binding(C::Panes, A::StopOne, "stop-one", &["x"], "stop this candidate, or its tests", "stop"),
    binding(C::Panes, A::Undo, "undo", &["u"], "take back what was written to the file", "undo"),
    binding(C::Panes, A::NextTarget, "next-target", &["ctrl-n"], "next unfinished function, of the file or the project", "next function"),
    binding(C::Panes, A::Results, "results", &["t"], "test results", "tests"),
    binding(C::Panes, A::Calls, "calls", &["b"], "what candidates do on the same inputs, and which is right", "behaviour"),
    binding(C::Panes, A::Diff, "diff", &["d"], "differences to the file, or to the marked candidate", "diff"),
    binding(C::Panes, A::Edit, "edit", &["e"], "edit in $EDITOR, then test as a new candidate", "edit"),
    binding(C::Panes, A::Zoom, "zoom", &["z"], "this candidate alone, without side borders", "zoom"),
    binding(C::Panes, A::Regenerate, "regenerate", &["R"], "write candidates anew, with the next seed", "again"),
    binding(C::Panes, A::Round, "another-round", &["*"], "as many candidates again, beside these", ""),
    binding(C::Panes, A::EarlierRun, "earlier-run", &["["], "the run of this function before this one", "earlier run"),
    binding(C::Panes, A::LaterRun, "later-run", &["]"], "the run after this one, up to the newest", "later run"),
    binding(C::Panes, A::Help, "help", &["?"], "this help", "help"),
    binding(C::Panes, A::Palette, "palette", &[":"], "all actions and settings, to choose from", "actions"),
    binding(C::Panes, A::Settings, "settings", &[","], "the settings, to change them", ""),
    binding(C::Panes, A::StopAll, "stop-all", &["X"], "stop all, or all tests", ""),
    binding(C::Panes, A::TestAgain, "test-again", &["T"], "test this candidate again", ""),
    binding(C::Panes, A::More, "more", &["+", "="], "one candidate more, next time", ""),
    binding(C::Panes, A::Fewer, "fewer", &["-"], "one candidate fewer, next time", ""),
    binding(C::Panes, A::Copy, "copy", &["y"], "copy this candidate", ""),
    binding(C::Panes, A::CopyProgram, "copy-program", &["Y"], "copy the whole program", ""),
    binding(C::Panes, A::Wrap, "wrap", &["w"], "wrap long lines", ""),
    binding(C::Panes, A::Arrange, "arrange", &["v"], "next layout: fit, grid, columns, list", "layout"),
    binding(C::Panes, A::Unfold, "unfold", &["o"], "show candidates that say the same one by one, or folded", ""),
    binding(C::Panes, A::Preview, "preview", &["p"], "the file with this candidate in it", ""),
    binding(C::Panes, A::Mark, "mark", &["M"], "mark this candidate, to compare others with it", ""),
    binding(C::Panes, A::SavePatch, "save-patch", &["W"], "write this candidate as a patch", ""),
    binding(C::Panes, A::Colour, "colour", &["c"], "colour code by language, drafts, or confidence", ""),
    binding(C::Panes, A::NextToken, "next-token", &[")"], "in zoom, by confidence: next token, and the others that were likely", ""),
    binding(C::Panes, A::PreviousToken, "previous-token", &["("], "token before it", ""),
    binding(C::Panes, A::Said, "said", &["s"], "what the model said before its code", ""),
    binding(C::Panes, A::Search, "search", &["/"], "search in all candidates", ""),
    binding(C::Panes, A::NextFound, "next-found", &["n"], "next candidate that passed, or has what is searched", ""),
    binding(C::Panes, A::PreviousFound, "previous-found", &["N"], "previous one", ""),
    binding(C::Panes, A::Filter, "filter", &["f"], "show all, passed, failed, or untested candidates", ""),
    binding(C::Panes, A::Leave, "leave", &["esc"], "out of zoom, search and filter", "back"),
    binding(C::Panes, A::FocusPrompt, "focus-prompt", &["i"], "edit the prompt", ""),
    binding(C::Panes, A::Wish, "wish", &["I"], "say in a sentence what to change in the function", "say how to write it"),
    binding(C::Panes, A::FocusPane, "focus-pane", &["1", "2", "3", "4", "5", "6", "7", "8", "9"], "pane with this number", ""),
    binding(C::Panes, A::PaneLeft, "pane-left", &["h", "left"], "pane to the left", ""),
    binding(C::Panes, A::PaneRight, "pane-right", &["l", "right"], "pane to the right", ""),
    binding(C::Panes, A::PaneUp, "pane-up", &["k", "up"], "pane above", ""),
    binding(C::Panes, A::PaneDown, "pane-down", &["j", "down"], "pane below", ""),
    binding(C::Panes, A::LineUp, "line-up", &["shift-up", "ctrl-y"], "scroll up a line", ""),
    binding(C::Panes, A::LineDown, "line-down", &["shift-down", "ctrl-e"], "scroll down a line", ""),
    binding(C::Panes, A::PageUp, "page-up", &["pgup", "ctrl-u"], "scroll up", ""),
    binding(C::Panes, A::PageDown, "page-down", &["pgdn", "ctrl-d"], "scroll down", ""),
    binding(C::Panes, A::Top, "top", &["g", "home"], "to the top", ""),
    binding(C::Panes, A::Bottom, "bottom", &["G", "end"], "to the end, and follow", ""),
    binding(C::Panes, A::ColumnLeft, "column-left", &["<", "shift-left"], "long lines: to the left", ""),
    binding(C::Panes, A::ColumnRight, "column-right", &[">", "shift-right"], "long lines: to the right", ""),
    binding(C::Panes, A::Watch, "watch", &["F"], "follow the editor: a stub that is saved is written at once", ""),
    binding(C::Panes, A::Mouse, "mouse", &["m"], "mouse on or off: wheel scrolls, click focuses", ""),
    binding(C::Panes, A::Quit, "quit", &["q"], "leave", "quit"),

    binding(C::Results, A::Accept, "accept", &["enter", "a"], "take this candidate", "accept"),
    binding(C::Results, A::PaneDown, "pane-down", &["j", "down"], "next candidate", "next"),
    binding(C::Results, A::PaneUp, "pane-up", &["k", "up"], "previous candidate", "previous"),
    binding(C::Results, A::PageDown, "page-down", &["pgdn", "ctrl-d"], "output: scroll down", "more"),
    binding(C::Results, A::PageUp, "page-up", &["pgup", "ctrl-u"], "output: scroll up", ""),
    binding(C::Results, A::Output, "output", &["o"], "what the tests printed, or only why they failed", "output"),
    binding(C::Results, A::TestAgain, "test-again", &["T"], "test this candidate again", "test again"),
    binding(C::Results, A::Mouse, "mouse", &["m"], "mouse on or off", ""),
    binding(C::Results, A::Close, "close", &["esc", "t", "q"], "back to the candidates", "close"),
    binding(C::Results, A::Undo, "undo", &["u"], "take back what was written to the file", ""),
    binding(C::Results, A::NextTarget, "next-target", &["ctrl-n"], "next unfinished function", ""),
    binding(C::Results, A::Palette, "palette", &[":"], "all actions and settings, to choose from", ""),
    binding(C::Results, A::Settings, "settings", &[","], "the settings, to change them", ""),
    binding(C::Results, A::Help, "help", &["?"], "this help", "help"),

    binding(C::Calls, A::Answer, "answer", &["1", "2", "3", "4", "5", "6", "7", "8", "9"], "the answer of this number is right: all candidates are judged by it", ""),
    binding(C::Calls, A::Unfold, "unfold", &["o"], "show the calls that a row stands for one by one, or folded", "unfold"),
    binding(C::Calls, A::TypeAnswer, "type-answer", &["="], "type the right answer, such as one that no candidate gives", "type answer"),
    binding(C::Calls, A::OwnCall, "own-call", &["+"], "type a call of your own, on which all candidates are called", "own call"),
    binding(C::Calls, A::PaneDown, "pane-down", &["j", "down"], "next call", "next"),
    binding(C::Calls, A::PaneUp, "pane-up", &["k", "up"], "previous call", "previous"),
    binding(C::Calls, A::Example, "example", &["w"], "make the right answer an example in the docstring, and test by it", "as example"),
    binding(C::Calls, A::Copy, "copy", &["y"], "copy the call and its right answer as a line of a test", "copy as test"),
    binding(C::Calls, A::Forget, "forget", &["x"], "no answer of this call is right any more", "forget"),
    binding(C::Calls, A::Accept, "accept", &["enter", "a"], "take the candidate in focus", "accept"),
    binding(C::Calls, A::FocusNext, "focus-next", &["]", "right", "l"], "next candidate", ""),
    binding(C::Calls, A::FocusPrevious, "focus-previous", &["[", "left", "h"], "previous candidate", ""),
    binding(C::Calls, A::PageDown, "page-down", &["pgdn", "ctrl-d"], "ten calls down", ""),
    binding(C::Calls, A::PageUp, "page-up", &["pgup", "ctrl-u"], "ten calls up", ""),
    binding(C::Calls, A::Close, "close", &["esc", "b", "q"], "back to the candidates", "close"),
    binding(C::Calls, A::Undo, "undo", &["u"], "take back what was written to the file", ""),
    binding(C::Calls, A::NextTarget, "next-target", &["ctrl-n"], "next unfinished function", ""),
    binding(C::Calls, A::Palette, "palette", &[":"], "all actions and settings, to choose from", ""),
    binding(C::Calls, A::Settings, "settings", &[","], "the settings, to change them", ""),
    binding(C::Calls, A::Help, "help", &["?"], "this help", "help"),

    binding(C::Answer, A::Submit, "submit", &["enter"], "this answer is right: all candidates are judged by it", "take it"),
    binding(C::Answer, A::Close, "close", &["esc"], "back to the table of calls", "cancel"),

    binding(C::Diff, A::Accept, "accept", &["enter", "a"], "take this candidate", "accept"),
    binding(C::Diff, A::FocusNext, "focus-next", &["]", "right", "l"], "next candidate", "next"),
    binding(C::Diff, A::FocusPrevious, "focus-previous", &["[", "left", "h"], "previous candidate", "previous"),
    binding(C::Diff, A::Base, "base", &["b"], "compare with the marked one, the file, the pick, the others", "other base"),
    binding(C::Diff, A::TakeHunk, "take-hunk", &["space"], "take this change from the other text, as a new candidate", "take change"),
    binding(C::Diff, A::Close, "close", &["esc", "d", "p", "q"], "back to the candidates", "close"),
    binding(C::Diff, A::Undo, "undo", &["u"], "take back what was written to the file", ""),
    binding(C::Diff, A::NextTarget, "next-target", &["ctrl-n"], "next unfinished function", ""),
    binding(C::Diff, A::Palette, "palette", &[":"], "all actions and settings, to choose from", ""),
    binding(C::Diff, A::Settings, "settings", &[","], "the settings, to change them", ""),
    binding(C::Diff, A::Help, "help", &["?"], "this help", "help"),
    binding(C::Diff, A::NextHunk, "next-change", &["n"], "next change", ""),
    binding(C::Diff, A::PreviousHunk, "previous-change", &["N"], "previous change", ""),
    binding(C::Diff, A::Split, "split", &["D"], "side by side, or one below the other", ""),
    binding(C::Diff, A::Edit, "edit", &["e"], "edit in $EDITOR, then test as a new candidate", ""),
    binding(C::Diff, A::Mark, "mark", &["M"], "mark this candidate, to compare others with it", ""),
    binding(C::Diff, A::LineDown, "line-down", &["j", "down"], "scroll down", ""),
    binding(C::Diff, A::LineUp, "line-up", &["k", "up"], "scroll up", ""),
    binding(C::Diff, A::PageDown, "page-down", &["pgdn", "ctrl-d"], "page down", ""),
    binding(C::Diff, A::PageUp, "page-up", &["pgup", "ctrl-u"], "page up", ""),

    binding(C::Wish, A::Submit, "submit", &["enter"], "write candidates with this change; an empty line takes it away", "write"),
    binding(C::Wish, A::Close, "close", &["esc"], "leave all as it is; the sentence is there again the next time", "cancel"),
    binding(C::Wish, A::HistoryPrevious, "history-previous", &["up"], "earlier sentence", "earlier"),
    binding(C::Wish, A::HistoryNext, "history-next", &["down"], "later sentence", ""),
    binding(C::Wish, A::Help, "help", &["f1"], "this help", "help"),

    binding(C::Search, A::Submit, "submit", &["enter"], "find it", "find"),
    binding(C::Search, A::Close, "close", &["esc"], "do not search", "cancel"),
    binding(C::Search, A::Help, "help", &["f1"], "this help", ""),

    binding(C::Palette, A::Choose, "choose", &["enter"], "do it; of a setting list its values, or take one", "choose"),
    binding(C::Palette, A::Keep, "keep-setting", &["ctrl-s"], "keep this setting, for the project or for all", "keep setting"),
    binding(C::Palette, A::CompletePath, "complete-path", &["tab"], "in the value of a setting: go on with a typed path", "complete path"),
    binding(C::Palette, A::Close, "choose-none", &["esc"], "back", "back"),
    binding(C::Palette, A::Help, "help", &["f1"], "this help", "help"),
    binding(C::Palette, A::LineDown, "choose-next", &["down", "ctrl-n"], "next row", ""),
    binding(C::Palette, A::LineUp, "choose-previous", &["up", "ctrl-p"], "previous row", ""),
    binding(C::Palette, A::PageDown, "choose-page-down", &["pgdn"], "page down", ""),
    binding(C::Palette, A::PageUp, "choose-page-up", &["pgup"], "page up", ""),
    binding(C::Palette, A::Top, "choose-first", &["home"], "to the first", ""),
    binding(C::Palette, A::Bottom, "choose-last", &["end"], "to the last", ""),

    binding(C::Picker, A::Choose, "choose", &["enter"], "complete this function", "complete it"),
    binding(C::Picker, A::Close, "choose-none", &["esc"], "back to the screen; at the start twice: leave", "close"),
    binding(C::Picker, A::Help, "help", &["f1"], "this help", "help"),
    binding(C::Picker, A::LineDown, "choose-next", &["down", "ctrl-n"], "next function", ""),
    binding(C::Picker, A::LineUp, "choose-previous", &["up", "ctrl-p"], "previous function", ""),
    binding(C::Picker, A::PageDown, "choose-page-down", &["pgdn"], "page down", ""),
    binding(C::Picker, A::PageUp, "choose-page-up", &["pgup"], "page up", ""),
    binding(C::Picker, A::Top, "choose-first", &["home"], "to the first", ""),
    binding(C::Picker, A::Bottom, "choose-last", &["end"], "to the last", ""),
    binding(C::Picker, A::Pick, "pick", &["ctrl-t"], "from one file to the whole project", ""),

    binding(C::Help, A::LineDown, "line-down", &["j", "down"], "scroll down", "down"),
    binding(C::Help, A::LineUp, "line-up", &["k", "up"], "scroll up", "up"),
    binding(C::Help, A::PageDown, "page-down", &["pgdn", "space"], "page down", ""),
    binding(C::Help, A::PageUp, "page-up", &["pgup"], "page up", ""),
    binding(C::Help, A::Top, "top", &["g", "home"], "to the top", ""),
    binding(C::Help, A::Bottom, "bottom", &["G", "end"], "to the end", ""),
    binding(C::Help, A::Palette, "palette", &[":"], "all actions and settings, to search in them", "search actions"),
    binding(C::Help, A::Close, "close", &["esc", "q", "?", "f1", "enter"], "close the help", "close"),

    binding(C::Question, A::Yes, "yes", &["y"], "yes", "yes"),
    binding(C::Question, A::No, "no", &["n", "esc", "q"], "no", "no"),
];

/// Why the user's keys cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeymapError {
    #[error("settings, keys: there is no action `{name}`; did you mean `{nearest}`?")]
    Action { name: String, nearest: &'static str },
    /// The text names no key.
    #[error(
        "settings, keys.{action}: `{key}` is not a key; write for example `x`, `ctrl-x`, `alt-1`, `f5` or `shift-tab`"
    )]
    Key { action: String, key: String },
    /// One key, two actions.
    #[error(
        "settings, keys.{second}: `{key}` already means `{first}` in the context `{context}`; give one of them another key"
    )]
    Conflict {
        key: String,
        context: &'static str,
        first: &'static str,
        /// The one that wants it.
        second: &'static str,
    },
    /// The key could no longer be typed.
    #[error("settings, keys.{action}: `{key}` could then no longer be typed as text; add ctrl or alt to it")]
    Typing { action: &'static str, key: String },
}

/// The keys in force.
#[derive(Clone, Debug)]
pub struct Keymap {
    /// Keys of each binding of `TABLE`.
    keys: Vec<Vec<Key>>,
    bound: BTreeMap<(Context, Key), Action>,
}

impl Default for Keymap {
    fn default() -> Self {
        Self::new(&BTreeMap::new()).unwrap_or_else(|_| Self { keys: Vec::new(), bound: BTreeMap::new() })
    }
}

impl Keymap {
    /// The default keys, and the user's in their place: `action` or `context.action` to keys; none unbind it.
    pub fn new(user: &BTreeMap<String, Vec<String>>) -> Result<Self, KeymapError> {
        let mut keys: Vec<Vec<Key>> =
            TABLE.iter().map(|binding| binding.keys.iter().filter_map(|k| Key::parse(k)).collect()).collect();
        for (name, wanted) in user {
            let own: Vec<Key> = wanted
                .iter()
                .map(|k| Key::parse(k).ok_or_else(|| KeymapError::Key { action: name.clone(), key: k.clone() }))
                .collect::<Result<_, _>>()?;
            let mut known = false;
            for (binding, slot) in TABLE.iter().zip(&mut keys) {
                if binding.name == name || format!("{}.{}", binding.context.name(), binding.name) == *name {
                    known = true;
                    slot.clone_from(&own);
                }
            }
            if !known {
                return Err(KeymapError::Action { name: name.clone(), nearest: nearest(name) });
            }
        }
        let mut bound = BTreeMap::new();
        let mut owner: BTreeMap<(Context, Key), &'static str> = BTreeMap::new();
        for (binding, keys) in TABLE.iter().zip(&keys) {
            for &key in keys {
                if key.types() && (binding.context == Context::Global || binding.context.is_typed()) {
                    return Err(KeymapError::Typing { action: binding.name, key: key.to_string() });
                }
                if let Some(first) = owner.insert((binding.context, key), binding.name) {
                    return Err(KeymapError::Conflict {
                        key: key.to_string(),
                        context: binding.context.name(),
                        first,
                        second: binding.name,
                    });
                }
                bound.insert((binding.context, key), binding.action);
            }
        }
        Ok(Self { keys, bound })
    }

    /// Action of `key` in `context`. A question, the help and all places where text is typed but the prompt
    /// hear nothing but their own keys and the interrupt.
    pub fn action(&self, context: Context, key: Key) -> Option<Action> {
        if let Some(&action) = self.bound.get(&(context, key)) {
            return Some(action);
        }
        let global = self.bound.get(&(Context::Global, key)).copied()?;
        // Tab indents what is written there.
        let is_text = context == C::Prompt && key == Key::plain(Code::Tab);
        let modal = matches!(context, C::Question | C::Help) || context.is_typed() && context != C::Prompt || is_text;
        let passes = matches!(global, Action::Interrupt | Action::Suspend | Action::Redraw);
        (!modal || passes).then_some(global)
    }

    /// The first key of an action in a context, for texts such as `u undoes`.
    pub fn key(&self, context: Context, action: Action) -> Option<Key> {
        let find = |wanted: Context| {
            let at = TABLE.iter().position(|r| r.context == wanted && r.action == action)?;
            self.keys.get(at)?.first().copied()
        };
        find(context).or_else(|| find(Context::Global))
    }

    /// Hints of the footer in a context: action, keys, words, most useful first.
    pub fn hints(&self, context: Context) -> Vec<(Action, String, &'static str)> {
        self.bindings(context)
            .filter(|(binding, _)| !binding.hint.is_empty())
            .map(|(r, k)| (r.action, shown(&k[..1]), r.hint))
            .collect()
    }

    /// The help of a context: keys and words, in the order of the table, and marks that the place has.
    pub fn help(&self, context: Context) -> Vec<(String, &'static str)> {
        let marks = ROW_MARKS.iter().filter(|_| context == Context::Calls);
        let marks = marks.map(|&(mark, label)| (format!("{mark} at a row"), label));
        self.bindings(context).map(|(binding, keys)| (shown(keys), binding.label)).chain(marks).collect()
    }

    /// All actions of a context, in the order of the table, also those without a key.
    pub fn all(&self, context: Context) -> impl Iterator<Item = (&'static KeyBinding, &[Key])> {
        let all = TABLE.iter().zip(&self.keys).filter(move |(binding, _)| binding.context == context);
        all.map(|(binding, keys)| (binding, keys.as_slice()))
    }

    /// The meaning of a key in another place of the screen.
    pub fn elsewhere(&self, from: Context, key: Key) -> Option<&'static KeyBinding> {
        let places = [Context::Panes, Context::Results, Context::Diff, Context::Start];
        let mut bindings = places.into_iter().filter(|&place| place != from).flat_map(|place| self.all(place));
        bindings.find(|(_, keys)| keys.contains(&key)).map(|(binding, _)| binding)
    }

    fn bindings(&self, context: Context) -> impl Iterator<Item = (&'static KeyBinding, &[Key])> {
        self.all(context).filter(|(_, keys)| !keys.is_empty())
    }
}

/// Marks of rows in the table of calls, and what they say.
const ROW_MARKS: [(&str, &str); 2] =
    [("*", "the candidate in focus changes the result"), ("=", "you have said which answer is right")];

/// Keys as text; of digits the first and the last.
pub fn shown(keys: &[Key]) -> String {
    let digits = keys.len() > 2 && keys.iter().all(|k| matches!(k.code, Code::Char('1'..='9')));
    match keys {
        [first, .., last] if digits => format!("{first} to {last}"),
        _ => keys.iter().map(Key::to_string).collect::<Vec<_>>().join(" "),
    }
}

/// The action name most like `name`.
fn nearest(name: &str) -> &'static str {
    let names: Vec<&str> = TABLE.iter().map(|binding| binding.name).collect();
    let near = similar::get_close_matches(name, &names, 1, 0.0);
    near.first().and_then(|near| TABLE.iter().find(|binding| binding.name == *near)).map_or("quit", |near| near.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::legend::LEGEND;

    fn user(pairs: &[(&str, &[&str])]) -> BTreeMap<String, Vec<String>> {
        pairs.iter().map(|(n, k)| ((*n).to_owned(), k.iter().map(|k| (*k).to_owned()).collect())).collect()
    }

    fn key(name: &str) -> Key {
        Key::parse(name).unwrap()
    }

    /// The tables of `docs/keys.md`: one for each context.
    fn tables() -> String {
        let map = Keymap::default();
        let places = [
            (Context::Start, "Before the first run"),
            (Context::Prompt, "In the prompt"),
            (Context::Panes, "Candidates"),
            (Context::Wish, "Line for a change of the function"),
            (Context::Results, "Test results"),
            (Context::Calls, "Table of calls"),
            (Context::Diff, "Differences, preview"),
            (Context::Picker, "List of functions"),
            (Context::Palette, "List of actions and settings"),
            (Context::Global, "Everywhere"),
        ];
        let mut out = String::new();
        for (context, place) in places {
            out.extend(["\n## ", place, "\n\n| keys | what they do |\n|---|---|\n"]);
            map.help(context).iter().for_each(|(keys, label)| out.extend(["| `", keys, "` | ", label, " |\n"]));
        }
        out.push_str("\n## Words of the screen\n\n| word | meaning |\n|---|---|\n");
        for (word, meaning) in LEGEND {
            out.extend(["| `", word, "` | ", meaning, " |\n"]);
        }
        out
    }

    #[test]
    fn the_page_of_keys_has_these() {
        const BEGIN: &str = "<!-- made from src/tui/keymap.rs -->\n";
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/keys.md");
        let text = std::fs::read_to_string(&file).unwrap();
        let (before, known) = text.split_once(BEGIN).expect("docs/keys.md marks where the tables of keys begin");
        if std::env::var_os("UPDATE_KEYS").is_some() {
            std::fs::write(&file, format!("{before}{BEGIN}{}", tables())).unwrap();
            return;
        }
        assert_eq!(known, tables(), "make it anew: UPDATE_KEYS=1 cargo test --lib the_page_of_keys_has_these");
    }

    #[test]
    fn every_default_key_is_read_and_free_of_conflicts() {
        for binding in TABLE {
            for key in binding.keys {
                assert!(Key::parse(key).is_some(), "{}: {key}", binding.name);
            }
        }
        let map = Keymap::new(&BTreeMap::new()).unwrap();
        assert_eq!(map.action(Context::Panes, key("z")), Some(Action::Zoom));
        assert_eq!(map.action(Context::Prompt, key("ctrl-c")), Some(Action::Interrupt), "falls back to global");
        assert_eq!(map.action(Context::Prompt, key("z")), None, "letters are typed");
    }

    #[test]
    fn names_are_kebab_case_and_name_one_action() {
        let mut seen = BTreeMap::new();
        for binding in TABLE {
            assert!(
                binding.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'),
                "{}",
                binding.name
            );
            let before = seen.insert(binding.name, binding.action);
            assert!(before.is_none_or(|b| b == binding.action), "{} names two actions", binding.name);
        }
    }

    #[test]
    fn the_user_can_rebind_and_unbind() {
        let map = Keymap::new(&user(&[("zoom", &["B"]), ("wrap", &[])])).unwrap();
        assert_eq!(map.action(Context::Panes, key("B")), Some(Action::Zoom));
        assert_eq!(map.action(Context::Panes, key("z")), None);
        assert_eq!(map.action(Context::Panes, key("w")), None);
        assert!(map.help(Context::Panes).iter().any(|(keys, label)| keys == "B" && label.contains("alone")));
        assert!(!map.help(Context::Panes).iter().any(|(_, label)| label.contains("wrap")));
        let one = Keymap::new(&user(&[("panes.quit", &["ctrl-q"])])).unwrap();
        assert_eq!(one.action(Context::Start, key("q")), Some(Action::Quit), "only the named context changes");
        assert_eq!(one.action(Context::Panes, key("ctrl-q")), Some(Action::Quit));
    }

    #[test]
    fn mistakes_are_sentences_that_name_the_setting() {
        let conflict = Keymap::new(&user(&[("zoom", &["t"])])).unwrap_err().to_string();
        assert!(conflict.contains("`t` already means `results`") && conflict.contains("keys.zoom"), "{conflict}");
        let unknown = Keymap::new(&user(&[("zom", &["t"])])).unwrap_err().to_string();
        assert!(unknown.contains("`zom`") && unknown.contains("`zoom`"), "{unknown}");
        let key = Keymap::new(&user(&[("zoom", &["hyper-x"])])).unwrap_err().to_string();
        assert!(key.contains("keys.zoom") && key.contains("hyper-x"), "{key}");
        let typing = Keymap::new(&user(&[("submit", &["s"])])).unwrap_err().to_string();
        assert!(typing.contains("keys.submit") && typing.contains("typed"), "{typing}");
        for context in Context::all().filter(|context| context.is_typed()) {
            let binding = TABLE.iter().find(|binding| binding.context == context).unwrap();
            let name = format!("{}.{}", context.name(), binding.name);
            let refused = Keymap::new(&user(&[(&name, &["s"])])).unwrap_err().to_string();
            assert!(refused.contains("typed"), "{name}: {refused}");
        }
    }

    #[test]
    fn a_question_hears_only_its_answers_and_the_interrupt() {
        let map = Keymap::default();
        assert_eq!(map.action(Context::Question, key("y")), Some(Action::Yes));
        assert_eq!(map.action(Context::Question, key("ctrl-c")), Some(Action::Interrupt));
        assert_eq!(map.action(Context::Question, key("f5")), None);
        let elsewhere = ["f5", "tab", "ctrl-t", "alt-2"].map(|name| map.action(Context::Search, key(name)));
        assert_eq!(elsewhere, [None; 4], "nor does a search");
    }
}
