//! The commands of a package's test script, and the options in them.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::trial::language::command::split;
use crate::trial::project::settings::DENO;

/// The words of a command.
pub type Command = Vec<String>;

/// Options of node itself that are passed on from the project's test script. Those that end in `=` have a
/// value.
const NODE_OPTIONS: &[&str] = &[
    "--enable-source-maps", "--no-warnings", "--preserve-symlinks", "--preserve-symlinks-main", "--expose-gc",
    "--import=", "--require=", "-r=", "--loader=", "--experimental-loader=", "--conditions=", "-C=",
];

/// The beginning of further options of node that are passed on, and those of them that are not: they have a
/// value, or change what is reported or allowed.
const EXPERIMENTAL: &str = "--experimental-";
const NOT_PASSED: &[&str] = &["loader", "test-coverage", "permission", "config-file", "default-config-file"];

/// Beginnings of options of node that say which tests run and what is reported, which are the trial's own.
const OF_TESTS: &[&str] = &["--test", "--watch", "--experimental-test-coverage"];

/// Variables that scripts may not set.
const OURS: &[&str] = &["PATH", "NODE_OPTIONS", "OPENSSL_CONF", "HOME", "TMPDIR"];

/// The manifests of a folder: `package.json`, and the one of deno, whose tasks are its scripts.
pub fn manifests(folder: &Path) -> impl Iterator<Item = Value> + use<> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let package = read("package.json").and_then(|text| serde_json::from_str(&text).ok());
    let deno = DENO.iter().find_map(|name| serde_json::from_str(&bare(&read(name)?)).ok());
    let deno = deno.map(|mut manifest: Value| {
        if let Some(tasks) = manifest.get("tasks").and_then(Value::as_object) {
            let command = |task: &Value| task.get("command").unwrap_or(task).clone();
            manifest["scripts"] = tasks.iter().map(|(name, task)| (name.clone(), command(task))).collect();
        }
        manifest
    });
    package.into_iter().chain(deno)
}

/// JSON without comments and trailing commas.
pub fn bare(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(first) = rest.chars().next() {
        let mut length = first.len_utf8();
        if first == '"' {
            let mut is_escaped = true;
            let end = rest.find(|c| {
                let is_end = c == '"' && !is_escaped;
                is_escaped = c == '\\' && !is_escaped;
                is_end
            });
            length = end.map_or(rest.len(), |end| end + 1);
        } else if let Some(end) = [("//", "\n"), ("/*", "*/")].iter().find(|(head, _)| rest.starts_with(head)) {
            rest = rest.find(end.1).map_or("", |at| &rest[at + end.1.len()..]);
            continue;
        } else if matches!(first, '}' | ']') && out.trim_end().ends_with(',') {
            out.truncate(out.trim_end().len() - 1);
        }
        out += &rest[..length];
        rest = &rest[length..];
    }
    out
}

/// Returns true if a manifest has a test script.
pub fn has_test(manifest: &Value) -> bool {
    manifest["scripts"]["test"].is_string()
}

/// A hint for tests that import what is not there, where the project has a script that builds it.
pub fn advice_to_build(said: &str, folder: &Path) -> Option<String> {
    let is_missing = ["Cannot find module", "ERR_MODULE_NOT_FOUND"].iter().any(|words| said.contains(words));
    let has = |name: &str| manifests(folder).any(|manifest| manifest["scripts"][name].is_string());
    let script = ["pretest", "build"].into_iter().find(|name| is_missing && has(name))?;
    Some(format!(" (the project may build its tests first, with npm run {script}: give --test-command 'npm test')"))
}

/// Parts of the names of files that make something, and of those with tests.
const NO_CHECKS: &[&str] = &["build", "bundle", "clean", "compile", "copy", "gen", "install", "setup", "spec", "test"];

/// The first command that `npm test` runs beside the tests and that is a program of the project's own: a file
/// or text that node is started with. Compilers, linters and the like run in most projects.
pub fn besides(manifests: &[&Value]) -> Option<String> {
    let manifest = manifests.iter().find(|manifest| has_test(manifest))?;
    let scripts = ["pretest", "test", "posttest"].map(|name| manifest["scripts"][name].as_str().unwrap_or_default());
    let is_of_shells = |word: &String| ["&&", ";"].contains(&word.as_str());
    scripts.into_iter().find_map(|script| {
        let words = split(script).unwrap_or_default();
        let found = words.split(is_of_shells).find(|command| checks(command))?;
        Some(found.join(" "))
    })
}

/// Returns true if a command has node run a program that is no test and that makes nothing, by its name.
fn checks(command: &[String]) -> bool {
    let Some((_, rest)) = command.split_first().filter(|(first, _)| *first == "node") else { return false };
    match rest.first().map(String::as_str) {
        Some("-e" | "--eval") => true,
        Some(file) => {
            let file = file.to_lowercase();
            !file.starts_with('-') && !NO_CHECKS.iter().any(|part| file.contains(part))
        }
        None => false,
    }
}

/// Beginnings of the names of scripts that run tests where none is called `test`.
const OTHER_NAMES: &[&str] = &["test", "unit", "spec"];

/// The commands of the nearest test script and of the scripts that it starts. Without one those of scripts
/// whose names say that they run tests.
pub fn commands(manifests: &[&Value]) -> Vec<Command> {
    let scripts = |manifest: &Value| -> Vec<(String, String)> {
        let all = manifest["scripts"].as_object().into_iter().flatten();
        all.filter_map(|(name, text)| Some((name.clone(), text.as_str()?.to_owned()))).collect()
    };
    let is_other = |name: &str| OTHER_NAMES.iter().any(|head| name.starts_with(head));
    let with_other = || manifests.iter().find(|manifest| scripts(manifest).iter().any(|(name, _)| is_other(name)));
    let Some(manifest) = manifests.iter().find(|manifest| has_test(manifest)).or_else(with_other) else {
        return Vec::new();
    };
    let scripts = scripts(manifest);
    let is_first = |name: &str| if has_test(manifest) { name == "test" } else { is_other(name) };
    let first = scripts.iter().filter(|(name, _)| is_first(name)).map(|(_, text)| text.as_str());
    let (mut texts, mut from) = (first.collect::<Vec<&str>>(), 0);
    while from < texts.len() {
        // Pnpm takes names between slashes for a pattern.
        let words: Vec<&str> = texts[from].split([' ', '"', '\'']).map(|word| word.trim_matches('/')).collect();
        let named = |name: &str| {
            words.iter().any(|word| {
                let head = word.strip_suffix('*').or_else(|| word.strip_prefix('^'));
                *word == name || head.is_some_and(|head| name.starts_with(head) && !head.is_empty())
            })
        };
        let more: Vec<&str> = scripts.iter().filter(|(name, _)| named(name)).map(|(_, text)| text.as_str()).collect();
        for text in more {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        from += 1;
    }
    let mut commands = Vec::new();
    for text in texts {
        let words = split(text).unwrap_or_default();
        let parts = words.split(|word| matches!(word.as_str(), "&&" | "||" | ";" | "|" | "&"));
        commands.extend(parts.filter(|part| !part.is_empty()).map(<[String]>::to_vec));
    }
    commands
}

/// Returns true if a command starts the runner of this name.
pub fn starts(command: &[String], runner: &str) -> bool {
    let is_started = |name: &str| {
        let stem = |word: &String| Path::new(word).file_stem().and_then(|stem| stem.to_str()).map(str::to_owned);
        command.iter().filter_map(stem).any(|stem| stem.trim_start_matches('_') == name)
    };
    match runner {
        // `tsx --test` is node with a loader.
        "node" => (is_started("node") || is_started("tsx")) && command.iter().any(|word| word == "--test"),
        "mocha" => is_started("mocha") || is_started("ts-mocha"),
        // Bun and deno have other commands, too.
        "bun" | "deno" => {
            let mut words = command.iter().skip_while(|word| *word != runner).skip(1);
            words.find(|word| !word.starts_with('-')).is_some_and(|word| word == "test")
        }
        name => is_started(name),
    }
}

/// Returns true if a command has node run exactly this file.
pub fn is_run_by(command: &[String], file: &Path) -> bool {
    let is_file = |word: &String| {
        let path = Path::new(word.trim_start_matches("./"));
        [path.to_path_buf(), path.with_extension("js"), path.join("index.js")].iter().any(|path| path == file)
    };
    let is_node = command.first().is_some_and(|word| ["node", "tsx", "ts-node"].contains(&word.as_str()));
    is_node && !command.iter().any(|word| word == "--test") && command.iter().skip(1).any(is_file)
}

/// Returns true if a command has node run a file that stands in a folder above this one or in its own.
pub fn runs_beside(command: &[String], file: &Path) -> bool {
    let mut words = command.iter().skip_while(|word| !["node", "tsx", "ts-node"].contains(&word.as_str())).skip(1);
    let is_beside = |word: &String| {
        let path = Path::new(word.trim_start_matches("./"));
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        !word.starts_with('-') && folder.is_some_and(|folder| file.starts_with(folder))
    };
    words.any(is_beside)
}

/// The options of node in a test script, also those in its `NODE_OPTIONS`. Values that are files of `folder`,
/// if one is given, become paths: mocha takes both, node takes a bare word for a package.
pub fn node_options(words: &[String], folder: Option<&Path>) -> Vec<String> {
    let words: Vec<String> = words
        .iter()
        .flat_map(|word| match word.strip_prefix("NODE_OPTIONS=") {
            Some(options) => options.split_whitespace().map(str::to_owned).collect(),
            None => vec![word.clone()],
        })
        .collect();
    let is_experimental = |word: &str| {
        let named = word.strip_prefix(EXPERIMENTAL);
        named.is_some_and(|name| !NOT_PASSED.contains(&name.split('=').next().unwrap_or_default()))
    };
    let is_plain = |word: &&String| NODE_OPTIONS.contains(&word.as_str()) || is_experimental(word);
    let plain = words.iter().filter(is_plain).cloned();
    let with_value: Vec<&str> = NODE_OPTIONS.iter().filter_map(|option| option.strip_suffix('=')).collect();
    // Tsx is node with a loader.
    let tsx = words.first().is_some_and(|word| word == "tsx").then_some(["--import", "tsx"]);
    let tsx = tsx.into_iter().flatten().map(str::to_owned);
    let is_file = |value: &str| {
        let at = |ending: &str| folder.is_some_and(|folder| folder.join(format!("{value}{ending}")).is_file());
        !value.starts_with(['-', '.', '/']) && ["", ".js", ".cjs", ".mjs"].into_iter().any(at)
    };
    let options = plain.chain(valued(&words, &with_value)).chain(tsx);
    options.map(|option| if is_file(&option) { format!("./{option}") } else { option }).collect()
}

/// The options that a command gives node before its file and that are not passed on.
pub fn not_passed(words: &[String]) -> Vec<String> {
    let passed = node_options(words, None);
    let of_node = words.iter().skip_while(|word| *word != "node").skip(1);
    let mut left = Vec::new();
    let mut has_value = false;
    for word in of_node {
        if !word.starts_with('-') && !has_value {
            break;
        }
        let name = word.split('=').next().unwrap_or_default();
        has_value = passed.iter().any(|option| option == name) && !word.contains('=') && is_valued(name);
        let is_of_tests = OF_TESTS.iter().any(|head| name.starts_with(head));
        if word.starts_with('-') && !is_of_tests && !passed.iter().any(|option| option == word || option == name) {
            left.push(word.clone());
        }
    }
    left
}

fn is_valued(name: &str) -> bool {
    NODE_OPTIONS.iter().any(|option| option.strip_suffix('=') == Some(name))
}

/// Returns true if a command names a file, its folder or a pattern for it, relative to its package.
pub fn names(command: &[String], file: &Path) -> bool {
    let is_meant = |word: &String| {
        let word = word.trim_start_matches("./").trim_end_matches('/');
        let is_pattern = || glob::Pattern::new(word).is_ok_and(|pattern| pattern.matches_path(file));
        !word.is_empty() && !word.starts_with('-') && (file.starts_with(word) || is_pattern())
    };
    command.iter().skip(1).any(is_meant)
}

/// The variables that a command sets for its program, except those that the trial sets.
pub fn environment(words: &[String]) -> Vec<(String, String)> {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !OURS.contains(&name)
    };
    let words = words.iter().skip_while(|word| ["cross-env", "cross-env-shell", "env"].contains(&word.as_str()));
    let set = words.map_while(|word| word.split_once('=').filter(|(name, _)| !name.starts_with('-')));
    set.filter(|(name, _)| is_name(name)).map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// The options of these names with their values, given as `--a=b` or as `--a b`.
pub fn valued(words: &[String], names: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (i, word) in words.iter().enumerate() {
        let (name, value) = word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
        let value = value.or_else(|| words.get(i + 1).map(String::as_str));
        if let Some(value) = value.filter(|_| names.contains(&name)) {
            found.extend([name.to_owned(), value.to_owned()]);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &str) -> Command {
        split(command).unwrap()
    }

    #[test]
    fn tests_of_what_is_built_have_a_hint() {
        let folder = tempfile::tempdir().unwrap();
        let write = |scripts: &str| {
            fs::write(folder.path().join("package.json"), format!("{{\"scripts\":{scripts}}}")).unwrap();
        };
        let said = "Error: Cannot find module '/a/src/parse.js'";
        write("{\"test\":\"node --test\"}");
        assert_eq!(advice_to_build(said, folder.path()), None);
        write("{\"build\":\"tsc\",\"test\":\"npm run build && node --test\"}");
        let hint = advice_to_build(said, folder.path()).unwrap();
        assert!(hint.contains("npm run build") && hint.contains("--test-command 'npm test'"), "{hint}");
        assert_eq!(advice_to_build("SyntaxError: no", folder.path()), None);
    }

    #[test]
    fn programs_that_run_beside_the_tests_are_known() {
        for (scripts, expected) in [
            (r#"{"test":"node lint.cjs && node --test"}"#, Some("node lint.cjs")),
            (r#"{"pretest":"node -e 'process.exit(1)'","test":"jest"}"#, Some("node -e process.exit(1)")),
            (r#"{"test":"tsc && eslint . && cross-env A=1 c8 node --test"}"#, None),
            (r#"{"pretest":"node scripts/build.js","test":"node test/a.js && node test/b.js"}"#, None),
            (r#"{"check":"node lint.cjs","test":"node --import tsx --test"}"#, None),
        ] {
            let manifest: Value = serde_json::from_str(&format!("{{\"scripts\":{scripts}}}")).unwrap();
            assert_eq!(besides(&[&manifest]).as_deref(), expected, "{scripts}");
        }
    }

    #[test]
    fn options_that_the_tests_need_are_kept_and_no_others() {
        let script = "NODE_OPTIONS='--experimental-vm-modules --max-old-space-size=9' node --import tsx -r ./a.js --test --watch jest --config=x.json --coverage -c y";
        let script = words(script);
        assert_eq!(node_options(&script, None), ["--experimental-vm-modules", "--import", "tsx", "-r", "./a.js"]);
        assert_eq!(valued(&script, &["--config", "-c"]), ["--config", "x.json", "-c", "y"]);
        assert_eq!(valued(&words("mocha --ui"), &["--ui"]), Vec::<String>::new());
        assert_eq!(node_options(&words("tsx --test"), None), ["--import", "tsx"]);
    }

    #[test]
    fn options_that_are_not_passed_on_are_known() {
        for (script, expected) in [
            ("node --conditions development --no-warnings -r=a --test --test-reporter=tap test/", &[][..]),
            (
                "node --max-old-space-size=9 --import tsx --stack-size=1 a.js --own",
                &["--max-old-space-size=9", "--stack-size=1"],
            ),
            ("vitest --run", &[]),
        ] {
            assert_eq!(not_passed(&words(script)), expected, "{script}");
        }
        let others =
            words("node --experimental-vm-modules --experimental-test-coverage --experimental-loader ./a.js b.js");
        assert_eq!(node_options(&others, None), ["--experimental-vm-modules", "--experimental-loader", "./a.js"]);
    }

    #[test]
    fn files_that_mocha_loads_first_are_no_packages() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("test")).unwrap();
        fs::write(folder.path().join("test/env.js"), "").unwrap();
        let command = words("mocha --require test/env -r ts-node/register --require ./a.js");
        let options = node_options(&command, Some(folder.path()));
        assert_eq!(options, ["--require", "./test/env", "-r", "ts-node/register", "--require", "./a.js"]);
    }

    #[test]
    fn commands_are_those_of_the_test_script_and_of_what_it_starts() {
        let manifest: Value = serde_json::from_str(
            r#"{"scripts":{"test":"pnpm lint && npm run test:unit","test:unit":"jest -c a.json","lint":"prettier -c src","build":"tsc"}}"#,
        )
        .unwrap();
        let commands = commands(&[&manifest]);
        assert_eq!(commands, ["pnpm lint", "npm run test:unit", "prettier -c src", "jest -c a.json"].map(words));
        let starting: Vec<&Command> = commands.iter().filter(|command| starts(command, "jest")).collect();
        assert_eq!(starting, [&words("jest -c a.json")]);
        assert!(starts(&words("tsx --test a.ts"), "node") && !starts(&words("node build.js"), "node"));
        assert!(super::commands(&[]).is_empty());
        assert!(starts(&words("bun --silent test src"), "bun") && !starts(&words("bun run test"), "bun"));
    }

    #[test]
    fn tasks_of_deno_are_scripts_whatever_stands_between_them() {
        let folder = tempfile::tempdir().unwrap();
        let text = "{\n  // with \"quotes\"\n  \"tasks\": { \"test\": { \"command\": \"deno task unit\", }, /* , */ \"unit\": \"deno test -A // \\\" ,}\", },\n}\n";
        fs::write(folder.path().join("deno.jsonc"), text).unwrap();
        fs::write(folder.path().join("package.json"), "{\"name\":\"a\"}").unwrap();
        let found: Vec<Value> = manifests(folder.path()).collect();
        assert_eq!((found.len(), &found[1]["scripts"]["unit"]), (2, &Value::from("deno test -A // \" ,}")));
        assert!(has_test(&found[1]) && !has_test(&found[0]));
    }
}
