//! Writing a candidate into a file and taking it back.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use bass_tui::code::{Applied, CodeError, Place, Target, TargetSpec, function_names};
use bass_tui::language::Language;
use proptest::prelude::*;
use tempfile::TempDir;

const STUB: &str = "import os\n\n\ndef f(x):\n    \"\"\"Doc.\"\"\"\n\n\nprint(f(1))\n";
const BODY: &str = "    if x:\n        return 1\n    return 2\n\n\nprint('no')\n";

fn file(bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stub.py");
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn read(path: &Path) -> Target {
    Target::read(&TargetSpec { path: path.to_owned(), place: Place::Any }).unwrap()
}

/// Everything in a folder, so that leftovers show.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn the_file_keeps_everything_but_the_body() {
    let spliced = STUB.replace("\"\"\"Doc.\"\"\"\n", "\"\"\"Doc.\"\"\"\n    if x:\n        return 1\n    return 2\n");
    let windows = |t: &str| t.replace('\n', "\r\n");
    let marked = |t: &str| format!("\u{feff}{t}");
    for form in [&|t: &str| t.to_owned() as String, &windows, &marked, &|t: &str| marked(&windows(t))]
        as [&dyn Fn(&str) -> String; 4]
    {
        let (folder, path) = file(form(STUB).as_bytes());
        let applied = read(&path).apply(BODY, None).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), form(&spliced));
        assert_eq!(applied.after, form(&spliced).into_bytes());
        applied.undo().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), form(STUB));
        assert_eq!(names(folder.path()), ["stub.py"]);
    }
}

#[test]
fn a_file_with_several_names_keeps_them() {
    let (folder, path) = file(STUB.as_bytes());
    let other = folder.path().join("other.py");
    fs::hard_link(&path, &other).unwrap();
    let applied = read(&path).apply(BODY, None).unwrap();
    assert_eq!(fs::read(&other).unwrap(), applied.after, "the other name shows the change");
    applied.undo().unwrap();
    assert_eq!(fs::read_to_string(&other).unwrap(), STUB, "and what is shorter is cut");
    assert_eq!(names(folder.path()), ["other.py", "stub.py"]);
}

#[test]
fn mode_and_links_stay() {
    let (folder, path) = file(STUB.as_bytes());
    fs::set_permissions(&path, Permissions::from_mode(0o751)).unwrap();
    let link = folder.path().join("link.py");
    symlink("stub.py", &link).unwrap();
    read(&link).apply(BODY, None).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o751);
    assert!(fs::read_to_string(&path).unwrap().contains("return 2"));
}

#[test]
fn a_changed_file_is_left_alone_and_the_candidate_can_be_saved() {
    let (folder, path) = file(STUB.as_bytes());
    let target = read(&path);
    let edited = STUB.replace("Doc.", "Docs.");
    fs::write(&path, &edited).unwrap();
    let error = target.apply(BODY, Some(&folder.path().join("backups"))).unwrap_err();
    assert!(matches!(error, CodeError::Changed { .. }), "{error}");
    assert!(error.to_string().contains("stub.py"));
    assert_eq!(fs::read_to_string(&path).unwrap(), edited);
    assert_eq!(names(folder.path()), ["stub.py"]);
    let patches = folder.path().join("state/patches");
    for name in ["stub-f.patch", "stub-f-2.patch"] {
        let patch = target.save_patch(BODY, &patches).unwrap();
        assert_eq!(patch, patches.join(name));
        insta::allow_duplicates! {
            insta::assert_snapshot!(fs::read_to_string(patch).unwrap(), @r#"
            --- a/stub.py
            +++ b/stub.py
            @@ -3,6 +3,9 @@
             
             def f(x):
                 """Doc."""
            +    if x:
            +        return 1
            +    return 2
             
             
             print(f(1))
            "#);
        }
    }
}

#[test]
fn undo_refuses_when_the_file_has_changed_since() {
    let (folder, path) = file(STUB.as_bytes());
    let backups = folder.path().join("backups");
    let applied = read(&path).apply(BODY, Some(&backups)).unwrap();
    let backup = applied.backup.clone().unwrap();
    assert_eq!(fs::read_to_string(&backup).unwrap(), STUB);
    assert!(backup.starts_with(&backups) && backup.to_string_lossy().ends_with("-stub.py"));
    fs::write(&path, "edited").unwrap();
    let error = applied.undo().unwrap_err();
    assert!(matches!(error, CodeError::ChangedSince { .. }));
    assert!(error.to_string().contains(&backup.display().to_string()));
    assert_eq!(fs::read_to_string(&path).unwrap(), "edited");
}

/// Only what was written goes; a change beside it could be part of it, so nothing is put back then.
#[test]
fn undo_keeps_what_was_changed_elsewhere() {
    for later in [false, true] {
        let (folder, path) = file(STUB.as_bytes());
        let backups = folder.path().join("backups");
        let applied = read(&path).apply(BODY, Some(&backups)).unwrap();
        let again = || if later { Applied::last(&backups, folder.path()) } else { Ok(applied.clone()) };
        let written = fs::read_to_string(&path).unwrap();
        fs::write(&path, written.replace("return 1", "return 7")).unwrap();
        assert!(!applied.stands());
        assert!(matches!(again().and_then(|applied| applied.undo()).unwrap_err(), CodeError::ChangedSince { .. }));
        let edit = |text: &str| format!("# first\n{}\n# last\n", text.replace("print(f(1))", "print(f(2))"));
        fs::write(&path, edit(&written)).unwrap();
        assert!(applied.stands());
        again().unwrap().undo().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), edit(STUB));
        assert!(!applied.stands() && fs::read_dir(&backups).unwrap().count() == 1, "only the copy is left");
    }
}

/// Where the function is the last of the file, new code at the margin behind it is no part of it.
#[test]
fn undo_keeps_what_was_appended() {
    let stub = STUB.replace("\n\nprint(f(1))\n", "");
    for (more, is_undone) in
        [("\n\ndef g():\n    pass\n", true), ("# note\n", true), ("\n\n", true), ("    x += 1\n", false)]
    {
        let (folder, path) = file(stub.as_bytes());
        let applied = read(&path).apply("    return 2\n", Some(&folder.path().join("backups"))).unwrap();
        let written = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{written}{more}")).unwrap();
        assert_eq!(applied.undo().is_ok(), is_undone, "{more:?}");
        let expected = if is_undone { format!("{stub}{more}") } else { format!("{written}{more}") };
        assert_eq!(fs::read_to_string(&path).unwrap(), expected, "{more:?}");
    }
}

/// Another start of the program undoes the last change first, then the one before.
#[test]
fn changes_are_undone_one_after_the_other_at_a_later_start() {
    let (folder, path) = file(STUB.as_bytes());
    let (backups, other) = (folder.path().join("backups"), folder.path().join("other.py"));
    fs::write(&other, STUB).unwrap();
    for (path, body) in [(&path, BODY), (&other, BODY), (&path, "    return 3\n")] {
        read(path).apply(body, Some(&backups)).unwrap();
    }
    let below = folder.path().canonicalize().unwrap();
    let undo = |file: Option<&Path>| Applied::last(&backups, file.unwrap_or(&below)).and_then(|applied| applied.undo());
    undo(Some(&path)).unwrap();
    assert!(fs::read_to_string(&path).unwrap().contains("return 2"));
    undo(Some(&path)).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), STUB);
    assert!(matches!(undo(Some(&path)).unwrap_err(), CodeError::NothingWritten { .. }));
    fs::write(&other, "edited").unwrap();
    assert!(matches!(undo(None).unwrap_err(), CodeError::ChangedSince { .. }));
    assert_eq!(fs::read_to_string(&other).unwrap(), "edited");
    // A change that cannot be put back names one that can.
    fs::remove_file(&other).unwrap();
    assert!(matches!(undo(Some(&other)).unwrap_err(), CodeError::Gone { .. }));
    assert!(matches!(undo(Some(&folder.path().join("never.py"))).unwrap_err(), CodeError::NothingWritten { .. }));
    let third = folder.path().join("third.py");
    fs::write(&third, STUB).unwrap();
    read(&path).apply(BODY, Some(&backups)).unwrap();
    read(&third).apply(BODY, Some(&backups)).unwrap();
    fs::rename(&third, folder.path().join("renamed.py")).unwrap();
    let error = undo(None).unwrap_err().to_string();
    let named = format!("bass-tui undo {}", fs::canonicalize(&path).unwrap().display());
    assert!(error.contains("third.py is no longer there") && error.ends_with(&named), "{error}");
}

/// Lines that stand in front of a placeholder are the user's: the model goes on behind them, and they stay.
#[test]
fn a_body_that_is_begun_is_gone_on_with() {
    // The file up to the placeholder, the placeholder, what stands behind it, and a body.
    let cases = [
        (
            "a.py",
            "def f(x):\n    if x < 0:\n        raise ValueError(x)  # agreed\n    y = x\n    # TODO: more\n",
            "    raise NotImplementedError\n",
            "\n\nz = 1\n",
            "    return y\n",
        ),
        ("b.py", "class A:\n    def f(self, x):\n        y = x\n", "        ...\n", "", "        return y\n"),
        ("a.rs", "fn f(x: i8) -> i8 {\n    if x < 0 {\n        return 0;\n    }\n", "    todo!()\n", "}\n", "    x\n"),
        ("a.js", "function f(x) {\n  g(x)\n", "  throw new Error('not implemented')\n", "}\n", "  return x;\n"),
        ("a.go", "package p\n\nfunc f(x int) int {\n\ty := x\n", "\tpanic(\"todo\")\n", "}\n", "\treturn y\n"),
    ];
    for (name, before, placeholder, after, body) in cases {
        let text = [before, placeholder, after].concat();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, &text).unwrap();
        let target = Target::read(&TargetSpec { path: path.clone(), place: Place::Any }).unwrap();
        assert!(!function_names(target.language, &text)[0].finished, "{name}");
        for shown in [target.stub(), target.prompt()] {
            let lines = before.split_inclusive('\n').rev().take(2).collect::<Vec<_>>();
            assert!(shown.ends_with(&[lines[1], lines[0]].concat()), "{name}: {shown}");
        }
        let applied = target.apply(&format!("{body}{}", if after == "}\n" { after } else { "" }), None).unwrap();
        let kept = before.replace("    # TODO: more\n", "");
        assert_eq!(fs::read_to_string(&path).unwrap(), [&*kept, body, after].concat(), "{name}");
        applied.undo().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "{name}");
        // A chat model may repeat it; it is there once.
        let whole = [&*kept, body, after].concat();
        let answer = format!("```{}\n{whole}```\n", target.language.name());
        let (candidate, _) = target.requested().read(&answer, true);
        assert_eq!(target.splice(&candidate), whole, "{name}");
    }
    // Behind a row of cases it ends a whole body.
    for text in [
        "def f(x):\n    if x:\n        return 1\n    raise NotImplementedError\n",
        "def f(x):\n    if x:\n        g()\n    pass\n",
        "def f(x):\n    if x:\n        g()\n    else:\n        raise NotImplementedError\n",
    ] {
        assert!(function_names(Language::Python, text).iter().all(|f| f.finished), "{text}");
    }
}

#[test]
fn what_must_not_be_written_is_not() {
    let (folder, path) = file(STUB.as_bytes());
    let target = read(&path);
    for empty in ["", "\n\n", "return 1\n", "    \n\ndef g():\n    pass\n"] {
        assert!(matches!(target.apply(empty, None).unwrap_err(), CodeError::Empty { .. }), "{empty}");
    }
    fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
    assert!(matches!(target.apply(BODY, None).unwrap_err(), CodeError::ReadOnly { .. }));
    fs::remove_file(&path).unwrap();
    assert!(matches!(target.apply(BODY, None).unwrap_err(), CodeError::NoFile { .. }));
    let text = Target::in_text(STUB, target.language, &Place::Any).unwrap();
    assert!(matches!(text.apply(BODY, None).unwrap_err(), CodeError::NotAFile { .. }));
    assert_eq!(names(folder.path()), [""; 0]);
}

/// A stub, a candidate, and what the stub becomes, in each language.
const LANGUAGES: &[(&str, &str, &str, &str)] = &[
    (
        "a.py",
        "class A:\n\tdef f(x):\n\t\t'''Doc.'''\n\nx = 1\n",
        "\t\treturn 'é'\n",
        "class A:\n\tdef f(x):\n\t\t'''Doc.'''\n\t\treturn 'é'\n\nx = 1\n",
    ),
    (
        "a.rs",
        "impl A {\n\t/// Doc.\n\tfn f() {}\n}\n",
        "\t\tg();\n\t}\n}\n",
        "impl A {\n\t/// Doc.\n\tfn f() {\n\t\tg();\n\t}\n}\n",
    ),
    (
        "a.js",
        "class A {\n  f() {\n    // A brace.\n  }\n}\n",
        "    return `}`;\n  }",
        "class A {\n  f() {\n    // A brace.\n    return `}`;\n  }\n}\n",
    ),
    ("a.ts", "const f = (x: A) => x;\nf(1);\n", "  return x;\n}\n", "const f = (x: A) => {\n  return x;\n};\nf(1);\n"),
    (
        "a.go",
        "package p\n\nfunc f() int {\n\tpanic(\"TODO\")\n}\n\nvar x = 1\n",
        "    return 1\n}\n",
        "package p\n\nfunc f() int {\n\treturn 1\n}\n\nvar x = 1\n",
    ),
];

#[test]
fn every_language_keeps_marks_line_ends_and_the_last_one() {
    for &(name, stub, candidate, becomes) in LANGUAGES {
        for (windows, mark, last) in
            [(false, false, false), (true, false, false), (true, true, false), (true, true, true), (false, true, true)]
        {
            let form = |text: &str| {
                let text = if last { text.trim_end_matches('\n') } else { text };
                let text = if windows { text.replace('\n', "\r\n") } else { text.to_owned() };
                if mark { format!("\u{feff}{text}") } else { text }
            };
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(name);
            fs::write(&path, form(stub)).unwrap();
            let spec = TargetSpec { path: path.clone(), place: Place::Function("f".into()) };
            let applied = Target::read(&spec).unwrap().apply(candidate, None).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), form(becomes), "{name}");
            applied.undo().unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), form(stub), "{name}");
        }
    }
}

#[test]
fn a_function_that_has_only_moved_is_written_where_it_stands_now() {
    for &(name, stub, candidate, becomes) in LANGUAGES {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        let read = || {
            fs::write(&path, stub).unwrap();
            Target::read(&TargetSpec { path: path.clone(), place: Place::Function("f".into()) }).unwrap()
        };
        let comment = if name == "a.py" { "# New.\n\n\n" } else { "// New.\n\n\n" };
        let target = read();
        let moved = format!("{comment}{stub}{comment}");
        fs::write(&path, &moved).unwrap();
        let applied = target.apply(candidate, None).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{comment}{becomes}{comment}"), "{name}");
        applied.undo().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), moved, "{name}");
        // The function itself has changed, or there is a second one like it.
        for changed in
            [stub.replacen(" f(", " f(y, ", 1), stub.replacen("f =", "ff =", 1), format!("{stub}{stub}"), String::new()]
        {
            if changed == stub {
                continue;
            }
            let target = read();
            fs::write(&path, &changed).unwrap();
            let error = target.apply(candidate, None).unwrap_err();
            assert!(matches!(error, CodeError::Changed { .. }), "{name}: {changed}");
            assert_eq!(fs::read_to_string(&path).unwrap(), changed, "{name}");
        }
    }
}

/// Of two functions that were alike nothing tells which one is left.
#[test]
fn the_other_one_of_two_that_were_alike_is_not_written() {
    let function = "def f(x):\n    pass\n";
    let (_folder, path) = file(format!("{function}\n\n{function}").as_bytes());
    let target = Target::read(&TargetSpec { path: path.clone(), place: Place::Line(5) }).unwrap();
    fs::write(&path, function).unwrap();
    assert!(matches!(target.apply("    return 1\n", None).unwrap_err(), CodeError::Changed { .. }));
}

#[test]
fn writers_of_one_file_wait_for_each_other() {
    let stub = |i: usize| format!("def f{i}(x):\n    \"\"\"Number {i}.\"\"\"\n\n\n");
    let (folder, path) = file((0..6).map(stub).collect::<String>().as_bytes());
    let target =
        |i: usize| Target::read(&TargetSpec { path: path.clone(), place: Place::Function(format!("f{i}")) }).unwrap();
    let targets: Vec<Target> = (0..6).map(target).collect();
    std::thread::scope(|scope| {
        for (i, target) in targets.iter().enumerate() {
            scope.spawn(move || target.apply(&format!("    return {i}\n"), None).unwrap());
        }
    });
    let written = |i: usize| stub(i).replace("\n\n\n", &format!("\n    return {i}\n\n\n"));
    assert_eq!(fs::read_to_string(&path).unwrap(), (0..6).map(written).collect::<String>());
    assert_eq!(names(folder.path()), ["stub.py"]);
}

/// A new file belongs to who writes it: where it cannot be given away, the old one stays.
#[cfg(target_os = "linux")]
#[test]
fn owner_and_group_stay() {
    use std::os::unix::fs::{MetadataExt, chown};
    let (folder, path) = file(STUB.as_bytes());
    let groups = [1000, 2000];
    if chown(&path, Some(groups[0]), Some(groups[1])).is_err() {
        return crate::skip::as_it_cannot("files of others", "this user may not give files away");
    }
    fs::set_permissions(&path, Permissions::from_mode(0o664)).unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
    let owned = || fs::metadata(&path).map(|meta| [meta.uid(), meta.gid()]).unwrap();
    let write = || {
        let applied = read(&path).apply(BODY, None).unwrap();
        assert_eq!(owned(), groups);
        applied.undo().unwrap();
        assert_eq!((owned(), fs::read_to_string(&path).unwrap()), (groups, STUB.to_owned()));
    };
    write();
    // Another user of its group: the system calls themselves change this thread alone.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (user, group) = (3000, groups[1]);
            // SAFETY: plain numbers.
            let become_other = unsafe {
                libc::syscall(libc::SYS_setresgid, group, group, group) == 0
                    && libc::syscall(libc::SYS_setresuid, user, user, user) == 0
            };
            assert!(become_other);
            match fs::metadata(&path) {
                Ok(_) => write(),
                Err(error) => crate::skip::as_it_cannot("files of a group", error),
            }
        });
    });
}

#[test]
fn files_in_other_encodings_are_left_alone() {
    let read = |bytes: &[u8]| {
        let (folder, path) = file(bytes);
        let target = Target::read(&TargetSpec { path: path.clone(), place: Place::Any });
        (folder, path, target)
    };
    let message = |error: CodeError, path: &Path| error.to_string().replace(&path.display().to_string(), "stub.py");
    // The bytes are UTF-8 by chance.
    let (_folder, path, target) = read("# -*- coding: latin-1 -*-\n# é\ndef f(x):\n    pass\n".as_bytes());
    insta::assert_snapshot!(
        message(target.unwrap_err(), &path),
        @"stub.py says on line 1 that it is in the encoding latin-1, and only UTF-8 can be completed here; save the file as UTF-8 and change that line"
    );
    let (_folder, path, target) = read(b"# \xe9\ndef f(x):\n    pass\n");
    assert!(message(target.unwrap_err(), &path).contains("the byte at offset 2 (line 1)"));
    // Some tools begin a new line at a carriage return alone.
    for (text, line) in [("def f(x):\n    pass\r\rdef g():\n    pass\n", Some(2)), ("def f(x):\r\n    pass\r\n", None)]
    {
        let (_folder, _path, target) = read(text.as_bytes());
        let refused = target.err().map(|error| match error {
            CodeError::LoneReturn { line, .. } => line,
            other => panic!("{other}"),
        });
        assert_eq!(refused, line, "{text:?}");
    }
    // Plain ASCII is the same in both, as long as it stays that.
    let plain = b"# coding: latin-1\ndef f(x):\n    pass\n";
    let (_folder, path, target) = read(plain);
    let target = target.unwrap();
    assert!(matches!(target.apply("    return 'é'\n", None).unwrap_err(), CodeError::OtherEncoding { line: 1, .. }));
    assert_eq!(fs::read(&path).unwrap(), plain);
    target.apply("    return 'e'\n", None).unwrap().undo().unwrap();
    assert_eq!(fs::read(&path).unwrap(), plain);
}

/// The tools that take patches take ours, and come to the same bytes.
#[test]
fn git_and_patch_take_the_diff() {
    let crlf = STUB.replace('\n', "\r\n");
    let bare = STUB.trim_end_matches("\n\n\nprint(f(1))\n");
    let odd = STUB.replace("import os\n", "s = 1  # \u{c}\n");
    let texts = [STUB, crlf.as_str(), bare, odd.as_str(), &format!("\u{feff}{STUB}")].map(str::to_owned);
    for name in ["stub.py", "a folder/my stub.py", "grün.py", "quo\"te.py"] {
        for text in &texts {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            let mut target = read(&path);
            target.path = Some(PathBuf::from(name));
            let patch = folder.path().join("a.patch");
            fs::write(&patch, target.diff(BODY)).unwrap();
            for (tool, arguments) in [("git", &["apply", "-p1"][..]), ("patch", &["-p1", "--binary", "-i"][..])] {
                fs::write(&path, text).unwrap();
                let mut run = std::process::Command::new(tool);
                run.args(arguments).arg("a.patch").current_dir(folder.path());
                let out = match run.env("GIT_CEILING_DIRECTORIES", folder.path()).output() {
                    Ok(out) => out,
                    Err(error) => {
                        crate::skip::for_want_of(tool, error);
                        continue;
                    }
                };
                assert!(out.status.success(), "{tool} {name}: {out:?}\n{}", target.diff(BODY));
                assert_eq!(fs::read(&path).unwrap(), target.splice_bytes(BODY), "{tool} {name}");
            }
        }
    }
    // A path that leads elsewhere stands in the patch with its last part.
    let (_folder, path) = file(STUB.as_bytes());
    let mut target = read(&path);
    target.path = Some(PathBuf::from("../x/stub.py"));
    assert!(target.diff(BODY).starts_with("--- a/stub.py\n+++ b/stub.py\n@@"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn applying_and_undoing_changes_nothing(
        lines in prop::collection::vec(prop::sample::select(vec!["x = 1", "", "# é", "def g(): pass", "s = '''", "'''", "\tx"]), 0..12),
        ends in prop::collection::vec(any::<bool>(), 24),
        mark: bool,
        last: bool,
    ) {
        let mut text = if mark { "\u{feff}".to_owned() } else { String::new() };
        let stub = ["def f(x):", "    '''Doc.'''"];
        for (line, windows) in lines[..lines.len() / 2].iter().chain(&stub).chain(&lines[lines.len() / 2..]).zip(ends) {
            text.push_str(line);
            text.push_str(if windows { "\r\n" } else { "\n" });
        }
        if last {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        let (_folder, path) = file(text.as_bytes());
        let Ok(target) = Target::read(&TargetSpec { path: path.clone(), place: Place::Any }) else { return Ok(()) };
        let applied = target.apply(BODY, None).unwrap();
        prop_assert_eq!(&fs::read(&path).unwrap(), &applied.after);
        prop_assert_ne!(&applied.after, &applied.before);
        applied.undo().unwrap();
        prop_assert_eq!(fs::read(&path).unwrap(), text.into_bytes());
    }
}
