//! Agreement: candidates are called on the same inputs, and those that do the same agree.
//!
//! It is evidence where there are no tests, and no verdict: most can be wrong.
//!
//! - Inputs (`inputs`): calls of the function in its documentation, in tests and in the code around it, with
//!   changed values (`mutation`), and typical values of the kinds that all texts tell (`known`): by annotation
//!   (`annotation`, `library`), default (`defaults`), name (`named`, `names`) and use (`described`, `uses`,
//!   `elements`), one inside of the other (`nesting`, `links`), names of fields of rows (`keyed`), pairs of
//!   numbers (`pairs`), numbers of methods beside those of their objects (`related`), files made for the call
//!   (`files`), objects that stand for others (`stubs`), values that documentation speaks of (`words`), that
//!   candidates compare with (`literals`) or look for in constants (`constants`). A function that is returned
//!   is called in turn (`returned`). They are the same each time.
//! - Calls run in the sandbox, a process for each distinct candidate (`trial::Runner::observe`). What is
//!   compared is the result with changed arguments and files, or the type of the error.
//! - Votes (`vote`): for each input a candidate gets the number of candidates that do the same there. Equal
//!   candidates vote each. All that raise count together against those that return, unless most of the errors
//!   may be mistakes; then the type of the error counts. Those that return more of the results that the
//!   documentation states come first. A candidate that only raises never comes before two that return and
//!   agree, unless most refuse values of the declared types alike.
//! - An answer that a person types (`typed`) is compared as an outcome: by its key (`form`). As an example
//!   (`stated`) it is written so that all candidates that give it pass. A call that the language
//!   cannot read is refused.

mod annotation;
mod awaited;
mod calls;
mod constants;
mod defaults;
mod described;
mod elements;
mod errors;
mod files;
mod form;
mod found;
mod head;
mod inputs;
mod keyed;
mod kind;
mod known;
mod library;
mod links;
mod literals;
mod methods;
mod mutation;
mod named;
mod names;
mod nesting;
mod object;
mod pairs;
mod related;
mod returned;
mod shape;
mod stated;
mod stubs;
mod typed;
mod uses;
mod value;
mod vote;
mod words;

pub use found::{Agreement, Answer};
pub use inputs::{Texts, inputs, leaves_out, more_inputs, typed_call};
pub use stated::{Example, FunctionKind, asks_the_time, may_iterate, stated};
pub use typed::{is_same, typed, words};
pub use vote::{Standing, Witness, tally};
