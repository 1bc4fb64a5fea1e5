//! The imports of a text, and the names they are bound to. Pure.

use std::collections::HashMap;

use crate::code::Word;
use crate::language::Language;

/// The imports of a text.
#[derive(Debug, Default)]
pub struct Imports {
    /// Modules by their full names.
    modules: Vec<String>,
    /// Names of the text, and the module each comes from.
    pub bound: HashMap<String, String>,
    /// Names of the text that stand for others.
    pub aliases: HashMap<String, String>,
}

impl Imports {
    pub fn of(language: Language, words: &[Word]) -> Self {
        let mut this = Self::default();
        match language {
            Language::Python => this.python(words),
            Language::JavaScript | Language::TypeScript => this.javascript(words),
            Language::Rust => this.rust(words),
            Language::Go => this.go(words),
        }
        this
    }

    /// Returns true if a module or one of its members is imported.
    pub fn has(&self, module: &str) -> bool {
        self.modules
            .iter()
            .any(|own| own.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '/'])))
    }

    /// The words without line ends, with aliases replaced by full names, and members named by strings as
    /// members.
    pub fn plain(&self, language: Language, words: &[Word]) -> Vec<Word> {
        let mut out: Vec<Word> = Vec::new();
        let is_javascript = matches!(language, Language::JavaScript | Language::TypeScript);
        let words: Vec<&Word> = words.iter().filter(|word| **word != Word::End).collect();
        let mut at = 0;
        while let Some(&word) = words.get(at) {
            at += 1;
            match word {
                Word::Name(name) => {
                    let is_first = !out.last().is_some_and(|last| last.is('.'));
                    let name = self.aliases.get(name).filter(|_| is_first).unwrap_or(name);
                    out.push(Word::Name(name.clone()));
                }
                Word::Mark('?') if is_javascript && words.get(at).is_some_and(|next| next.is('.')) => {}
                Word::Mark('[') if is_javascript && is_value(out.last()) => match (words.get(at), words.get(at + 1)) {
                    (Some(Word::Text(name)), Some(close)) if close.is(']') => {
                        if !out.last().is_some_and(|last| last.is('.')) {
                            out.push(Word::Mark('.'));
                        }
                        out.push(Word::Name(name.clone()));
                        at += 2;
                    }
                    _ => out.push(word.clone()),
                },
                _ => out.push(word.clone()),
            }
        }
        if language == Language::Rust {
            out.extend(rust_paths(&out));
        }
        out
    }

    fn python(&mut self, words: &[Word]) {
        for line in statements(words) {
            let (parts, is_from) = match line.first().and_then(Word::name) {
                Some("import") => (&line[1..], false),
                Some("from") => (&line[1..], true),
                _ => (&[][..], false),
            };
            if is_from {
                let module = dotted(parts);
                self.modules.push(module.clone());
                let after =
                    parts.iter().position(|word| word.name() == Some("import")).map_or(parts.len(), |at| at + 1);
                for item in parts[after..].split(|word| word.is(',') || word.is('(') || word.is(')')) {
                    let names: Vec<&str> = item.iter().filter_map(Word::name).collect();
                    self.bind(&names, &module);
                    if let Some(name) = names.first() {
                        self.modules.push(format!("{module}.{name}"));
                    }
                }
                continue;
            }
            for item in parts.split(|word| word.is(',')) {
                let module = dotted(item);
                if module.is_empty() {
                    continue;
                }
                let names: Vec<&str> = item.iter().filter_map(Word::name).collect();
                let from = if names.contains(&"as") { names.len().saturating_sub(3) } else { 0 };
                let to = if names.contains(&"as") { names.len() } else { names.len().min(1) };
                self.bind(&names[from..to], &module);
                self.modules.push(module);
            }
        }
        // By the name of the module as a string.
        for window in words.windows(3) {
            if let [Word::Name(how), Word::Mark('(' | '['), Word::Text(module)] = window
                && ["__import__", "import_module", "modules"].contains(&how.as_str())
            {
                self.modules.push(module.clone());
            }
        }
    }

    /// `a`, or `a as b`.
    fn bind(&mut self, names: &[&str], module: &str) {
        match names {
            [name] => drop(self.bound.insert((*name).to_owned(), module.to_owned())),
            [name, "as", own] => {
                self.aliases.insert((*own).to_owned(), (*name).to_owned());
                self.bound.insert((*name).to_owned(), module.to_owned());
            }
            _ => {}
        }
    }

    fn javascript(&mut self, words: &[Word]) {
        let words: Vec<&Word> = words.iter().filter(|word| **word != Word::End).collect();
        for (at, word) in words.iter().enumerate() {
            let Word::Text(module) = word else { continue };
            let module = ["node:", "bun:"].iter().find_map(|of| module.strip_prefix(of)).unwrap_or(module);
            let name = |back: usize| at.checked_sub(back).and_then(|at| words.get(at)).and_then(|word| word.name());
            let is_called = at > 0 && words[at - 1].is('(');
            let start = match (name(1), name(2)) {
                (Some("from" | "import"), _) => {
                    words[..at].iter().rposition(|word| matches!(word.name(), Some("import" | "export")))
                }
                (_, Some("require" | "import" | "getBuiltinModule")) if is_called => {
                    words[..at].iter().rposition(|word| matches!(word.name(), Some("const" | "let" | "var")))
                }
                _ => continue,
            };
            self.modules.push(module.to_owned());
            let start = start.filter(|start| at - start < 64).unwrap_or(at);
            let names: Vec<&str> = words[start..at].iter().filter_map(|word| word.name()).collect();
            for pair in names.windows(3) {
                if let [name, "as", own] = pair
                    && *name != "import"
                {
                    self.aliases.insert((*own).to_owned(), (*name).to_owned());
                }
            }
            let own = names
                .iter()
                .filter(|name| !["import", "const", "let", "var", "from", "require", "await", "as"].contains(name));
            self.bound.extend(own.map(|name| ((*name).to_owned(), module.to_owned())));
        }
    }

    fn rust(&mut self, words: &[Word]) {
        let mut is_use = false;
        let words: Vec<&Word> = words.iter().filter(|word| **word != Word::End).collect();
        for (at, word) in words.iter().enumerate() {
            is_use = (is_use && !word.is(';')) || matches!(word.name(), Some("use" | "extern"));
            // Only in `use a::b as c`, not in `x as u32`.
            if let (true, Some("as"), Some(Word::Name(own))) = (is_use, word.name(), words.get(at + 1))
                && let Some(name) = at.checked_sub(1).and_then(|before| words[before].name())
            {
                self.aliases.insert(own.clone(), name.to_owned());
            }
        }
    }

    fn go(&mut self, words: &[Word]) {
        let words: Vec<&Word> = words.iter().filter(|word| **word != Word::End).collect();
        let mut at = 0;
        while let Some(offset) = words[at..].iter().position(|word| word.name() == Some("import")) {
            at += offset + 1;
            let is_list = words.get(at).is_some_and(|word| word.is('('));
            let mut own: Option<String> = None;
            at += usize::from(is_list);
            while let Some(word) = words.get(at) {
                match word {
                    Word::Text(module) => {
                        let last = module.rsplit('/').next().unwrap_or_default().to_owned();
                        self.modules.push(module.clone());
                        if let Some(own) = own.take() {
                            self.aliases.insert(own, last.clone());
                        }
                        self.bound.insert(last, module.clone());
                        if !is_list {
                            break;
                        }
                    }
                    Word::Name(name) => own = Some(name.clone()),
                    // An import without a name in front stands for itself.
                    Word::Mark('.') => self.modules.push(".".to_owned()),
                    Word::Mark(';') => {}
                    _ => break,
                }
                at += 1;
            }
        }
    }
}

fn is_value(word: Option<&Word>) -> bool {
    match word {
        Some(Word::Name(name)) => !["return", "of", "in", "case", "typeof", "await", "yield"].contains(&name.as_str()),
        Some(Word::Mark(mark)) => [')', ']', '.'].contains(mark),
        _ => false,
    }
}

/// The statements of Python: lines, joined inside of brackets.
fn statements(words: &[Word]) -> Vec<Vec<Word>> {
    let (mut all, mut current, mut depth) = (Vec::new(), Vec::new(), 0_usize);
    for word in words {
        match word {
            Word::Mark('(' | '[' | '{') => depth += 1,
            Word::Mark(')' | ']' | '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        match word {
            Word::End if depth > 0 => {}
            Word::End | Word::Mark(';' | ':') if depth == 0 => all.push(std::mem::take(&mut current)),
            _ => current.push(word.clone()),
        }
    }
    all.push(current);
    all
}

/// The dotted name at the beginning.
fn dotted(words: &[Word]) -> String {
    let mut out = String::new();
    let mut is_after_name = false;
    for word in words {
        match word {
            Word::Mark('.') => {
                out.push('.');
                is_after_name = false;
            }
            Word::Name(name) if !is_after_name && name != "import" => {
                out.push_str(name);
                is_after_name = true;
            }
            _ => break,
        }
    }
    out
}

/// The paths that `use` names in braces, each written out.
fn rust_paths(words: &[Word]) -> Vec<Word> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(offset) = words[at..].iter().position(|word| word.name() == Some("use")) {
        at += offset + 1;
        let (mut path, mut kept): (Vec<Word>, Vec<usize>) = (Vec::new(), Vec::new());
        let mut end = |path: &[Word]| {
            out.push(Word::Mark(';'));
            out.extend_from_slice(path);
        };
        while let Some(word) = words.get(at).filter(|word| !word.is(';')) {
            at += 1;
            match word {
                Word::Mark('{') => kept.push(path.len()),
                Word::Mark(',' | '}') => {
                    end(&path);
                    path.truncate(kept.last().copied().unwrap_or(0));
                    if word.is('}') {
                        kept.pop();
                    }
                }
                _ => path.push(word.clone()),
            }
        }
        end(&path);
    }
    out.push(Word::Mark(';'));
    out
}
