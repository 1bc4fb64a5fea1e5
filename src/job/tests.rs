//! Texts, files and answers as jobs.

use super::*;
use crate::trial::{Limits, Status};

#[test]
fn the_example_has_a_function_and_tests() {
    let job = Job::example(&TestsChoice::IfAny).unwrap();
    assert_eq!(job.tests_label, "doctest");
    let target = job.target().unwrap();
    assert_eq!(job.prompt(), Prompt::Text(PromptText::words(target.prompt())), "the prompt is the stub, nothing more");
}

#[test]
fn a_text_that_ends_with_a_function_head_is_a_function() {
    let job = Job::from_text("def double(x):\n    \"\"\"Twice x.\"\"\"\n", &TestsChoice::IfAny).unwrap();
    assert_eq!(job.target().unwrap().name, "double");
    assert!(job.tests.is_none());
    assert!(job.program("    return 2 * x\n").ends_with("\"\"\"\n    return 2 * x\n"));
    let job = Job::from_text("/// Twice x.\nfn double(x: i32) -> i32 {\n", &TestsChoice::IfAny).unwrap();
    assert_eq!(job.language(), Some(Language::Rust));
    assert!(job.program("    2 * x\n}").ends_with("{\n    2 * x\n}\n"));
    assert!(Job::from_text("Dear Sir or Madam,", &TestsChoice::IfAny).unwrap().target().is_none());
}

const LARGEST: &str = "import math\n\n\ndef least():\n    return math.inf\n\n\ndef largest(numbers):\n    \"\"\"The largest number.\n\n    \
        >>> largest([1, 3, 2])\n    3\n    \"\"\"\n    pass\n\n\nprint(least())\n";

/// A job for `largest` in a file of its own.
fn largest() -> (tempfile::TempDir, std::path::PathBuf, Job) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("most.py");
    std::fs::write(&path, LARGEST).unwrap();
    let place = code::Place::Function("largest".to_owned());
    let target = Target::read(&code::TargetSpec { path: path.clone(), place }).unwrap();
    (folder, path, Job::from_target(target, &TestsChoice::IfAny).unwrap())
}

#[test]
fn lines_typed_under_the_stub_are_prompted_tested_and_written() {
    let (_folder, path, job) = largest();
    let stub = job.editable().unwrap();
    assert!(stub.starts_with("def largest") && stub.ends_with("\"\"\"\n"), "{stub}");
    let typed = "    best = numbers[0]\n    for n in numbers:\n";
    // The last line may lack its line end, and the editor may have only indented it.
    let unended = job.edited(&format!("{stub}{}", typed.trim_end())).unwrap();
    let job = job.edited(&format!("{stub}{typed}        ")).unwrap();
    assert_eq!(unended, job);
    let Prompt::Text(prompt) = job.prompt() else { panic!("{:?}", job.prompt()) };
    assert!(prompt.ends_with(&format!("3\n    \"\"\"\n{typed}")), "{prompt}");
    let candidate = "        if n > best:\n            best = n\n    return best\n";
    let whole = LARGEST.replace("    pass\n", &format!("{typed}{candidate}"));
    assert_eq!(job.program(candidate), whole);
    assert!(job.function(candidate).starts_with("def largest") && job.function(candidate).ends_with("return best\n"));
    let rules = job.stop_rules(&Window::default(), &[], true);
    assert_eq!(rules.text.unwrap()(&format!("{candidate}\n\nprint(1)\n")), Some(candidate.len()));
    let dedented = candidate.replace("\n    return", "\n        return");
    assert_ne!(
        job.duplicate_key(0, candidate),
        job.duplicate_key(1, &dedented),
        "where a line stands makes a difference"
    );
    let runner = crate::trial::Runner::probe().allow_unprotected();
    let verdict = runner.run(&job.trial(0, candidate, Limits::default()).unwrap(), &Arc::default()).unwrap();
    assert_eq!(verdict.status, Status::Passed, "{verdict:?}");
    let target = job.target().unwrap();
    assert!(matches!(target.apply("\n", None), Err(CodeError::Empty { .. })), "what was typed is no candidate");
    // Text above the function may have changed meanwhile.
    std::fs::write(&path, format!("# new\n{LARGEST}")).unwrap();
    let applied = target.apply(candidate, None).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("# new\n{whole}"));
    applied.undo().unwrap();
}

#[test]
fn an_edited_head_and_its_examples_are_tested_and_written() {
    let (_folder, path, job) = largest();
    let stub = job.editable().unwrap();
    let as_read = job.clone();
    let edited = stub.replace("largest", "smallest").replace("    3\n", "    1\n");
    let job = job.edited(&edited).unwrap();
    let target = job.target().unwrap();
    assert_eq!((target.name.as_str(), target.path.as_ref()), ("smallest", Some(&path)));
    assert_eq!(job.tests, Some(Tests::own_examples()));
    assert!(target.text.contains(">>> smallest([1, 3, 2])\n    1\n"), "{}", target.text);
    target.apply("    return min(numbers)\n", None).unwrap();
    let written = std::fs::read_to_string(&path).unwrap();
    assert_eq!(written, LARGEST.replace(&stub, &edited).replace("    pass\n", "    return min(numbers)\n"));
    // Without examples there are no tests, and back at the beginning there are.
    let bare = job.edited("def largest(numbers):\n").unwrap();
    assert!(bare.tests.is_none());
    assert_eq!(bare.edited(&stub).unwrap(), as_read);
    let error = job.edited("Dear Sir or Madam,").unwrap_err().to_string();
    assert!(error.contains("Python function"), "{error}");
}

#[test]
fn a_pasted_function_is_the_one_that_is_tested() {
    let job = Job::example(&TestsChoice::IfAny).unwrap();
    let pasted = "def twice(x):\n    \"\"\"Twice x.\n\n    >>> twice(2)\n    4\n    \"\"\"\n    y = x\n";
    let twice = job.edited(pasted).unwrap();
    assert_eq!(twice.target().unwrap().name, "twice");
    assert_eq!(twice.tests, Some(Tests::own_examples()));
    assert_eq!(twice.program("    return x + y\n"), format!("{pasted}    return x + y\n"));
    let rust = job.edited("/// Twice x.\nfn twice(x: i32) -> i32 {\n    for _ in 0..1 {\n").unwrap();
    assert_eq!((rust.language(), &rust.tests), (Some(Language::Rust), &None));
    assert!(rust.program("        return 2 * x;\n    }\n    0\n}\n\nfn f() {}").ends_with("    }\n    0\n}\n"));
    let free = job.edited("Dear Sir or Madam,\n\n").unwrap();
    assert_eq!((free.target(), free.prompt()), (None, Prompt::Text(PromptText::marks("Dear Sir or Madam,\n\n"))));
    // A complete function cannot be continued.
    for text in ["def f(x):\n    return x\n", "def f(x):\n    y = x\n\n"] {
        assert!(Job::from_text(text, &TestsChoice::IfAny).unwrap().target().is_none(), "{text:?}");
    }
}

#[test]
fn a_trial_names_a_method_with_its_class() {
    let text = "class Stats:\n    def find_max(self):\n        \"\"\"The largest.\n\n        >>> Stats().find_max()\n        3\n        \"\"\"\n";
    let job = Job::from_text(text, &TestsChoice::IfAny).unwrap();
    let trial = job.trial(0, "        return 3\n", Limits::default()).unwrap();
    assert_eq!(trial.entry_point.as_deref(), Some("Stats.find_max"));
}

#[test]
fn tests_that_are_not_there_are_an_error_only_when_asked_for() {
    let text = "def double(x):\n    \"\"\"Twice x.\"\"\"\n";
    let error = Job::from_text(text, &TestsChoice::Auto).unwrap_err().to_string();
    assert!(error.contains("double") && error.contains(">>>"), "{error}");
    let error = Job::from_text("func double(x int) int {\n", &TestsChoice::Auto).unwrap_err().to_string();
    assert!(error.contains("double is in Go") && error.contains("--tests FILE"), "{error}");
    let gone = TestsChoice::Named(vec!["no/such/tests.py".to_owned()]);
    assert!(Job::from_text(text, &gone).unwrap_err().to_string().contains("no/such/tests.py"));
}

#[test]
fn of_an_answer_only_the_function_is_the_candidate() {
    let template = crate::model::Template {
        path: "chat_template.jinja".into(),
        text: "<u>{{ messages[0].content }}</u>".to_owned(),
        tokens: Vec::new(),
    };
    let window = Window::default().asked(Some(template.render().unwrap()));
    let job = Job::from_text("def f(x):\n    \"\"\"Twice x.\"\"\"\n", &TestsChoice::None).unwrap();
    let Prompt::Written(prompt) = job.prompt_for(&window) else { panic!("a request") };
    assert!(prompt.starts_with("<u>Write the Python function `f`") && prompt.ends_with("\"\"\"\n```</u>"), "{prompt}");
    let reading = job.stop_rules(&window, &[], true).reading.unwrap();
    let answer = "Sure:\n```python\ndef f(x):\n  return 2 * x\n```\n";
    let (text, ended) = reading(answer, false);
    assert_eq!(
        (job.function(&text), ended),
        ("def f(x):\n    \"\"\"Twice x.\"\"\"\n    return 2 * x\n".to_owned(), true)
    );
    assert_eq!(
        reading(&answer[..answer.find(" * x").unwrap()], true).0,
        "    return 2",
        "what was cut is kept as far as it goes"
    );
    // Of a completion all is the candidate, unless it answers.
    let rules = job.stop_rules(&Window::default(), &[], true);
    assert_eq!(rules.begins.unwrap()("    return"), Some(false));
    assert_eq!(rules.reading.unwrap()(answer, true).0, "    return 2 * x\n");
}

#[test]
fn an_answer_that_is_begun_goes_on_with_the_body() {
    let template = crate::model::Template {
            path: "chat_template.jinja".into(),
            text: "{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}".to_owned(),
            tokens: Vec::new(),
        };
    let window = Window::default().asked(Some(template.render().unwrap()));
    let read = |text: &str, answer: &str, over: bool| {
        let job = Job::from_text(text, &TestsChoice::None).unwrap();
        let Prompt::Written(prompt) = job.prompt_for(&window) else { panic!("a request") };
        let rules = job.stop_rules(&window, &[], true);
        assert!(!rules.thinks.unwrap()(answer));
        let (text, ended) = rules.reading.unwrap()(answer, over);
        (prompt, job.function(&text), ended)
    };
    let stub = "def f(x):\n    \"\"\"Twice x, `2 * x`.\"\"\"\n";
    let (prompt, whole, ended) = read(stub, "    return 2 * x\n```\nThis doubles", false);
    assert!(prompt.ends_with(&format!("</><assistant>```python\n{stub}")), "{prompt}");
    assert_eq!((whole, ended), (format!("{stub}    return 2 * x\n"), true));
    let (_, whole, _) = read(stub, "    y = x\n    return", true);
    assert_eq!(whole.trim_end(), format!("{stub}    y = x\n    return"));
    // Code behind the function is none of it.
    let (_, whole, ended) = read(stub, "    return 2 * x\n\n\nassert f(1) == 2\n", false);
    assert_eq!((whole, ended), (format!("{stub}    return 2 * x\n"), true));
    // A method keeps its indentation, a docstring its fence.
    let method = "class A:\n    def f(self, x):\n        \"\"\"Twice x.\n\n        ```\n        f(1)\n        ```\n        \"\"\"\n";
    let (prompt, whole, ended) = read(method, "        return 2 * x\n````\n", false);
    assert!(prompt.contains("</><assistant>````python\n    def f(self, x):\n"), "{prompt}");
    assert!(whole.ends_with("\"\"\"\n        return 2 * x\n") && ended, "{whole}");
    let go = "// F doubles.\nfunc F(x int) int {\n";
    let (prompt, whole, ended) = read(go, "\treturn 2 * x\n}\n```\n", false);
    assert!(prompt.ends_with("func F(x int) int {\n") && ended, "{prompt}");
    assert!(whole.contains("{\n\treturn 2 * x\n}"), "{whole}");
}
