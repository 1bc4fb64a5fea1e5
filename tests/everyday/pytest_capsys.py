# expect: passed
# What the code prints, by `capsys`.
def f(name):
    print('Hello, %s!' % name)
    print('Bye.')


# --- tests ---
def test_greets(capsys):
    f("Ann")
    assert capsys.readouterr().out == "Hello, Ann!\nBye.\n"
    f("Bob")
    out, err = capsys.readouterr()
    assert out.splitlines() == ["Hello, Bob!", "Bye."]
    assert err == ""
