//! Functions that a body returns, by the grammar of its language.

use tree_sitter::Node;

use super::{syntax, text};
use crate::language::Language;

/// Functions that return functions that are followed: a decorator that takes arguments is two.
const DEEPEST: usize = 3;

/// The parameters of the function that a body returns, then those of the function that this one returns, as
/// they are written, in parentheses. `None` for a body that does not parse, as one that is half written.
pub fn returned_functions(language: Language, body: &str) -> Option<Vec<String>> {
    let heads: &[(&str, &str)] = match language {
        Language::Python => &[("async def f():\n", "")],
        // The brace that ends the function may be there.
        _ => &[("async function* f() {\n", ""), ("async function* f() {\n", "\n}\n")],
    };
    let body = if language == Language::Python { indented(body) } else { body.to_owned() };
    let parse = |(head, end): &(&str, &str)| {
        let written = [*head, &body, end].concat();
        syntax::tree(language, &written).map(|tree| (written, tree))
    };
    let (written, tree) = heads.iter().find_map(parse)?;
    let reader = Reader { text: &written };
    let mut all = Vec::new();
    let mut function = tree.root_node().named_child(0);
    while all.len() < DEEPEST
        && let Some(inner) = function.and_then(|function| reader.returned(function))
    {
        all.push(reader.parameters(inner));
        function = Some(inner);
    }
    Some(all)
}

/// A body of Python, which begins behind the blanks of its first line, with these.
pub(super) fn indented(body: &str) -> String {
    let lines = body.lines().skip(1).filter(|line| !line.trim().is_empty());
    let blanks = lines.map(|line| text::white(line, 0)).min_by_key(|blanks| blanks.len()).unwrap_or("    ");
    if body.starts_with([' ', '\t']) { body.to_owned() } else { format!("{blanks}{body}") }
}

struct Reader<'a> {
    text: &'a str,
}

impl<'a> Reader<'a> {
    fn of(&self, node: Node) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// The function that a function returns in its last `return` outside of other blocks, or whose value it is.
    fn returned<'t>(&self, function: Node<'t>) -> Option<Node<'t>> {
        let body = function.child_by_field_name("body")?;
        if !matches!(body.kind(), "block" | "statement_block") {
            return self.function(body, None);
        }
        let last = children(body).into_iter().rfind(|node| node.kind() == "return_statement")?;
        self.function(last.named_child(0)?, Some(body))
    }

    /// The function that an expression is; `block` may define its name.
    fn function<'t>(&self, value: Node<'t>, block: Option<Node<'t>>) -> Option<Node<'t>> {
        match value.kind() {
            "lambda" | "arrow_function" | "function_expression" | "generator_function" => Some(value),
            "identifier" => self.defined(self.of(value), block?),
            "parenthesized_expression" | "as_expression" => self.function(value.named_child(0)?, block),
            // `wraps(f)(wrapper)`
            "call" if value.child_by_field_name("function")?.kind() == "call" => {
                self.function(value.child_by_field_name("arguments")?.named_child(0)?, block)
            }
            _ => None,
        }
    }

    /// The function of this name that a block defines.
    fn defined<'t>(&self, name: &str, block: Node<'t>) -> Option<Node<'t>> {
        let has_name = |node: &Node| node.child_by_field_name("name").is_some_and(|own| self.of(own) == name);
        children(block).into_iter().find_map(|node| match node.kind() {
            "decorated_definition" => node.child_by_field_name("definition").filter(has_name),
            "function_definition" | "function_declaration" | "generator_function_declaration" => {
                Some(node).filter(has_name)
            }
            "lexical_declaration" | "variable_declaration" => {
                let declared = children(node).into_iter().find(has_name)?;
                self.function(declared.child_by_field_name("value")?, None)
            }
            "expression_statement" => {
                let set = node.named_child(0).filter(|set| set.kind() == "assignment")?;
                let is_it = set.child_by_field_name("left").is_some_and(|left| self.of(left) == name);
                self.function(set.child_by_field_name("right").filter(|_| is_it)?, None)
            }
            _ => None,
        })
    }

    fn parameters(&self, function: Node) -> String {
        let fields = ["parameters", "parameter"];
        let written =
            fields.iter().find_map(|field| function.child_by_field_name(field)).map_or("", |all| self.of(all));
        if written.starts_with('(') { written.to_owned() } else { format!("({written})") }
    }
}

fn children(node: Node) -> Vec<Node> {
    node.named_children(&mut node.walk()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn python(body: &str) -> Vec<String> {
        returned_functions(Language::Python, body).unwrap()
    }

    fn script(body: &str) -> Vec<String> {
        returned_functions(Language::TypeScript, body).unwrap()
    }

    #[test]
    fn a_body_says_what_the_function_it_returns_takes() {
        assert_eq!(python("    return lambda x, y=\"a:b\": x + n\n"), ["(x, y=\"a:b\")"]);
        assert_eq!(python("    def add(x):  # adds\n        return x + n\n    return add\n"), ["(x)"]);
        assert_eq!(
            python("def add(f):\n        def g(x):\n            return x\n        return g\n    return add"),
            ["(f)", "(x)"]
        );
        let wrapper = "    @wraps(func)\n    def wrapper(*args, **kwargs):\n        for _ in range(3):\n            return func(*args)\n    return wrapper";
        assert_eq!(python(wrapper), ["(*args, **kwargs)"]);
        let inner = wrapper.replace("    ", "        ").replacen("        @", "    def decorator(func):\n        @", 1);
        assert_eq!(python(&format!("{inner}\n    return decorator\n")), ["(func)", "(*args, **kwargs)"]);
        assert_eq!(python("    return lambda f: lambda x: f(x)\n"), ["(f)", "(x)"]);
        assert_eq!(python("    add = lambda x: x + n\n    return add\n"), ["(x)"]);
        assert_eq!(python("    def go(x):\n        return x\n    return go(n)\n"), [] as [&str; 0]);
        assert_eq!(python("    def go(x):\n        return x\n    return sorted(words, key=go)\n"), [] as [&str; 0]);
        assert_eq!(python("    def go(x):\n        return x\n    return functools.wraps(f)(go)\n"), ["(x)"]);
        assert_eq!(python("    return sorted(words)\n"), [] as [&str; 0]);
        assert_eq!(returned_functions(Language::Python, "    def go(x):\n        return (x"), None);
    }

    #[test]
    fn scripts_return_functions_in_several_forms() {
        assert_eq!(script("  return (x: number) => x + n;\n"), ["(x: number)"]);
        assert_eq!(script("  return (x: number) => x + n;\n}\n"), ["(x: number)"]);
        assert_eq!(script("  return x => y => x + y;\n"), ["(x)", "(y)"]);
        assert_eq!(script("  let n = 0;\n  return function () {\n    return () => n++;\n  };\n"), ["()", "()"]);
        assert_eq!(
            script(
                "  const seen = new Map();\n  const f = async (...a: T[]): Promise<T> => {\n    if (a) { return 1; }\n    return fn(...a);\n  };\n  return f;\n"
            ),
            ["(...a: T[])"]
        );
        assert_eq!(script("  function step(a) {\n    return a;\n  }\n  return step;\n"), ["(a)"]);
        assert_eq!(script("  return xs.map((x) => x + 1);\n"), [] as [&str; 0]);
        assert_eq!(script("  return { get: () => 1 };\n"), [] as [&str; 0]);
    }
}
