//! `complete` where tests say nothing of the function, or there are none.

use super::server::{Model, Server};
use super::world::{Done, World, isolated};

const MEAN: &str = "def mean(xs: list[float]) -> float:\n    \"\"\"The mean, 0.0 of nothing.\"\"\"\n";
const OF_SUMS: &str = "import unittest\nfrom sums import total\n\n\nclass T(unittest.TestCase):\n    def test_total(self):\n        \
    self.assertEqual(total([1, 2]), 3)\n";

/// `complete` of a function of a file, by a server that writes these bodies.
fn complete(world: &World, function: &str, bodies: &[&str], more: &[&str]) -> Done {
    let server = Server::good(Model::new(bodies));
    let args = ["complete", "--file", function, "--server", &server.address, "-n", "3", "--seed", "0"];
    world.run(&[&args[..], more].concat())
}

/// An environment of the project with nothing installed, or nothing for want of one.
fn without_pytest(world: &World) -> bool {
    let make = ["-m", "venv", "--without-pip", ".venv"];
    let made = std::process::Command::new("python3").args(make).current_dir(world.work()).output();
    made.is_ok_and(|made| made.status.success())
}

#[test]
fn tests_of_other_functions_do_not_stop_a_new_one() {
    if !isolated() {
        return;
    }
    for has_pytest in [true, false] {
        let world = World::new();
        world.file("pyproject.toml", "");
        world.file("sums.py", "def total(xs):\n    return sum(xs)\n");
        world.file("test_sums.py", OF_SUMS);
        let file = world.file("stats.py", MEAN);
        if !has_pytest && !without_pytest(&world) {
            return crate::skip::for_want_of("python3", "it makes no environment");
        }
        let bodies = ["    return 0.0\n", "    return sum(xs) / len(xs) if xs else 0.0\n"];
        let bodies = [bodies[0], bodies[1], "    return sum(xs) / len(xs) if len(xs) else 0.0\n"];
        let done = complete(&world, &format!("{file}:mean"), &bodies, &["--apply"]).code(0);
        assert!(done.out.contains("return sum(xs)"), "what most do: {}{}", done.out, done.err);
        assert!(done.err.contains("of each: these tests do not notice `mean`"), "{}", done.err);
        let said = "the tests that were found say nothing of `mean`: the candidates were compared instead";
        assert!(done.err.contains(said), "{}", done.err);
        assert!(std::fs::read_to_string(&file).unwrap().contains("return sum(xs)"));
        // Tests that fail by another function that is not written yet say as little.
        world.file("sums.py", "def total(xs):\n    pass\n");
        let file = world.file("stats.py", MEAN);
        let done = complete(&world, &format!("{file}:mean"), &bodies, &[]).code(0);
        assert!(done.out.contains("return sum(xs)") && done.err.contains(said), "{}{}", done.out, done.err);
        world.file("sums.py", "def total(xs):\n    return sum(xs)\n");
        // Tests that the user names decide, whatever they notice.
        let file = world.file("stats.py", MEAN);
        let done = complete(&world, &format!("{file}:mean"), &bodies, &["--tests", "test_sums.py"]).code(1);
        assert!(done.out.is_empty() && !done.err.contains("instead"), "{}{}", done.out, done.err);
        // Tests that need pytest are not heard without it. If none names the function nothing is missed.
        world.file("test_sums.py", "from sums import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n");
        let done = complete(&world, &format!("{file}:mean"), &bodies, &[]).code(0);
        assert!(has_pytest || done.err.contains("-m pip install pytest"), "{}", done.err);
        assert!(done.err.contains(said), "{}", done.err);
        world.file(
            "test_stats.py",
            "from stats import mean\n\n\ndef test_mean(tmp_path):\n    assert mean([1, 3]) == 2\n",
        );
        let done = complete(&world, &format!("{file}:mean"), &bodies, &[]);
        if !has_pytest {
            let done = done.code(1);
            assert!(done.err.contains("pytest") && !done.err.contains(said), "{}", done.err);
        }
    }
}

#[test]
fn tests_of_another_class_are_not_said_to_call_the_method() {
    if !isolated() {
        return;
    }
    let world = World::new();
    world.file("pyproject.toml", "");
    let shapes = "class Square:\n    def __init__(self, a: float):\n        self.a = a\n\n    def area(self) -> float:\n        return self.a ** 2\n\n\n\
        class Circle:\n    def __init__(self, r: float):\n        self.r = r\n\n    def area(self) -> float:\n        raise NotImplementedError\n";
    let file = world.file("shapes.py", shapes);
    let tests = "import unittest\nfrom shapes import Square\n\n\nclass T(unittest.TestCase):\n    def test_area(self):\n        \
        self.assertEqual(Square(2).area(), 4)\n";
    world.file("test_shapes.py", tests);
    let bodies =
        ["        return 6 * self.r\n", "        return 3 * self.r ** 2\n", "        return 3 * self.r * self.r\n"];
    let done = complete(&world, &format!("{file}:Circle.area"), &bodies, &[]).code(0);
    assert!(done.out.contains("return 3 *"), "{}{}", done.out, done.err);
    assert!(done.err.contains("tests: test_shapes.py (named after shapes.py, calls a method area)"), "{}", done.err);
    assert!(
        done.err.contains("do not notice `Circle.area`") && !done.err.contains("calls Circle.area"),
        "{}",
        done.err
    );
}

#[test]
fn marks_are_shown_without_tests() {
    let world = World::new();
    let file = world.file("stats.py", MEAN);
    let bodies = ["    import subprocess\n    return float(subprocess.check_output([\"uname\"]))\n"];
    let mark = "the code uses `subprocess` (other programs), which nothing asked for";
    let done = complete(&world, &format!("{file}:mean"), &bodies, &["--agree", "off"]).code(0);
    assert!(done.err.contains(mark) && !done.err.contains("NOT RUN"), "{}", done.err);
    let json = complete(&world, &format!("{file}:mean"), &bodies, &["--agree", "off", "--json"]).code(0).json();
    for candidate in json["candidates"].as_array().unwrap() {
        assert_eq!(candidate["verdict"]["assurance"]["marks"][0], mark, "{json}");
    }
}
