# expect: passed
# assurance: shared
# Files in a folder of the test's own.
def f(path):
    with open(path) as file:
        return sum(1 for line in file if line.strip())


# --- tests ---
def test_counts(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("one\n\ntwo\n")
    assert f(file) == 2
    assert f(str(file)) == 2
