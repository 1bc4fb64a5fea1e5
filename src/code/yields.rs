//! Bodies that yield, by Python's grammar.

use tree_sitter::Node;

use super::closures::indented;
use super::{syntax, words};
use crate::language::Language;

/// Kinds of nodes whose `yield` is not the function's own.
const INNER: [&str; 3] = ["function_definition", "class_definition", "lambda"];

/// Returns true if a body of Python itself yields, not only a function or class in it. In one that does not
/// parse any `yield` counts.
pub fn yields(body: &str) -> bool {
    let written = format!("async def f():\n{}", indented(body));
    let Some(tree) = syntax::tree(Language::Python, &written) else {
        return words::names(Language::Python, body).contains("yield");
    };
    let function = tree.root_node().named_child(0);
    let mut left: Vec<Node> = function.and_then(|function| function.child_by_field_name("body")).into_iter().collect();
    while let Some(node) = left.pop() {
        if node.kind() == "yield" {
            return true;
        }
        if !INNER.contains(&node.kind()) {
            left.extend(node.named_children(&mut node.walk()));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::yields;

    #[test]
    fn a_body_yields_wherever_its_own_yield_stands() {
        for body in [
            "    for x in xs:\n        yield x\n",
            "    return (yield)\n",
            "    async for x in xs: yield x\n",
            "    if x: yield x\n",
            "    got = yield x\n",
            "    yield \"\"\"a\"\"\"\n",
            "    \"\"\"Gives.\"\"\"; yield\n",
            "yield x\n        yield y\n",
            "    async with a as b:\n        try:\n            yield b\n        finally:\n            pass\n",
            "    for x in xs:\n        yield (x\n",
        ] {
            assert!(yields(body), "{body}");
        }
    }

    #[test]
    fn a_yield_of_an_inner_function_makes_no_generator() {
        assert!(!yields("    \"\"\"Must yield.\"\"\"\n    # yield\n    return 'yield'\n"));
        assert!(!yields("") && !yields("    pass\n") && !yields("    return lambda: (yield)\n"));
        let inner = "    async def inner():\n        yield 1\n";
        assert!(!yields(&format!("{inner}    return [x async for x in inner()]\n")));
        assert!(yields(&format!("{inner}    yield 2\n")));
        assert!(!yields("    @wraps(f)\n    async def inner():\n        yield 1\n    return inner\n"));
    }
}
