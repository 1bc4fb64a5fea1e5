# expect: passed
# Classes of the user's that derive from a list, a dictionary and text.
class Stack(list):
    def push(self, x):
        self.append(x)

    def top(self):
        return self[-1]


class Table(dict):
    def total(self):
        return sum(self.values())


class Word(str):
    def shout(self):
        return self.upper() + "!"


# --- body ---
def f(stack):
    stack.push(len(stack))
    return stack


def g(text):
    return Word(text), Table({text: 1})


# --- tests ---
s = Stack([7])
assert f(s) is s
assert s == [7, 1] and s.top() == 1
assert f(Stack()).top() == 0
word, table = g("ab")
assert word == "ab" and word.shout() == "AB!"
assert table.total() == 1 and table["ab"] == 1
