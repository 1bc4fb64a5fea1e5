//! JavaScript and TypeScript under node's own runner.

use crate::driver::{Field, Function};
use crate::runner::node;

#[test]
fn commonjs_and_a_method() {
    let Some(runner) = node() else { return };
    let mut field = Field::in_git(runner, include_str!("projects/commonjs.txt"), &[], &[]);
    field.holds(&Function {
        target: "lib/stack.js:Stack.twice",
        tests: &[],
        right: "    return new Stack(this.values.map(twice));\n",
        passes: "3 tests",
        wrong: &[
            ("    return;\n", "Stack > doubles what it holds: Cannot read properties of undefined"),
            ("    throw new Error('no');\n", "Stack > doubles what it holds: no"),
            ("    this.values = this.values.map(twice);\n    return this;\n", "Stack > stays as it is: "),
        ],
    });
}

/// Installed packages of a workspace are links to it, and what they lead to is the copy.
#[test]
fn workspaces_of_typescript_modules_and_commonjs() {
    let Some(runner) = node() else { return };
    let links = "mkdir -p node_modules/@acme && ln -s ../../packages/plain node_modules/@acme/plain && ln -s ../../packages/lib node_modules/@acme/lib";
    let mut field = Field::in_git(runner, include_str!("projects/workspaces.txt"), &[], &[links]);
    field.holds(&Function {
        target: "packages/lib/src/code.ts:f",
        tests: &[],
        right: "  return twice(x);\n",
        passes: "1 test",
        wrong: &[
            ("  return undefined as any;\n", "f > doubles: "),
            ("  throw new Error('no');\n", "f > doubles: no"),
            ("  return 3 * x;\n", "f > doubles: "),
        ],
    });
    field.holds(&Function {
        target: "packages/plain/index.js:shout",
        tests: &["packages/app/test/app.test.mjs"],
        right: "  return text.toUpperCase() + '!';\n",
        passes: "1 test",
        wrong: &[("  return;\n", "shouts: "), ("  throw new Error('no');\n", "shouts: no")],
    });
}

/// A package of the workspace loads what another one was built into, which git ignores.
#[test]
fn a_workspace_whose_packages_load_built_output() {
    let Some(runner) = node() else { return };
    let built = "mkdir -p packages/shared/dist node_modules/@acme && ln -s ../../packages/shared node_modules/@acme/shared && \
        echo 'exports.rate = 0.25;' > packages/shared/dist/index.js";
    let mut field = Field::in_git(runner, include_str!("projects/built_packages.txt"), &[], &[built]);
    field.holds(&Function {
        target: "packages/app/price.js:withTax",
        tests: &[],
        right: "  return price * (1 + rate);\n",
        passes: "1 test",
        wrong: &[("  throw new Error('no');\n", "adds the tax: no"), ("  return price + rate;\n", "adds the tax: ")],
    });
}
