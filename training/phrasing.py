"""Other words for the same thing: what makes a thousand templates sound like more than a thousand.

`exercises.py` writes each task in a few standard phrases. Here they are loosened: words give way to words of the same meaning, sentences take other forms, arguments and functions get names
from ordinary life, or names that say nothing. A network that has only seen `nums` and `s` learns these two by heart; one that has seen everything has to look up.
"""

import re

# What may stand for what, in descriptions. Only words that keep the meaning wherever the templates use them.
SAME = [
    (r"largest|biggest|greatest|highest", ["largest", "biggest", "greatest", "highest", "maximum"]),
    (r"smallest|lowest", ["smallest", "lowest", "least", "minimum"]),
    (r"the sum of", ["the sum of", "the total of", "the result of adding", "the sum over"]),
    (r"the product of", ["the product of", "the result of multiplying"]),
    (r"the number of", ["the number of", "the count of", "the total number of", "the amount of"]),
    (r"numbers", ["numbers", "values", "entries"]),
    (r"elements|items", ["elements", "items", "entries", "values", "members"]),
    (r"element|item", ["element", "item", "entry", "value", "member"]),
    (r"characters", ["characters", "chars", "symbols"]),
    (r"(sorted )?in (ascending|increasing) order", ["in ascending order", "in increasing order", "from smallest to largest", "from low to high", "sorted upwards"]),
    (r"(sorted )?in (descending|decreasing) order", ["in descending order", "in decreasing order", "from largest to smallest", "from high to low", "sorted downwards"]),
    (r"in reverse order", ["in reverse order", "in reversed order", "back to front", "from last to first", "backwards"]),
    (r"in the original order|keeping the (original )?order|in order of first appearance", ["in the original order", "keeping the order", "in the order in which they come first", "without changing the order"]),
    (r"each(?! of| other)", ["each", "every"]),
    (r"every(?! of)", ["every", "each"]),
    (r"contains", ["contains", "has", "includes", "holds"]),
    (r"occurs|appears", ["occurs", "appears", "shows up", "is found"]),
    (r"occur|appear", ["occur", "appear", "show up", "are found"]),
    (r"(greater|larger|bigger) than", ["greater than", "larger than", "bigger than", "above", "more than"]),
    (r"(less|smaller) than", ["less than", "smaller than", "below", "under", "lower than"]),
    (r"at least", ["at least", "not less than", "no less than"]),
    (r"at most", ["at most", "not more than", "no more than"]),
    (r"divisible by", ["divisible by", "evenly divisible by", "divisible without remainder by"]),
    (r"without duplicates|with duplicates removed", ["without duplicates", "with duplicates removed", "without repeats", "each of them once"]),
    (r"duplicates", ["duplicates", "repeats", "repeated values"]),
    (r"distinct|different", ["distinct", "different", "unique"]),
    (r"average|mean", ["average", "mean", "arithmetic mean"]),
    (r"a dictionary|a dict", ["a dictionary", "a dict", "a mapping"]),
    (r"is equal to", ["is equal to", "equals", "is the same as"]),
    (r"are equal", ["are equal", "are the same", "match", "agree"]),
    (r"reads the same forwards and backwards", ["reads the same forwards and backwards", "is the same when read from the end", "does not change when reversed"]),
    (r"greatest common divisor", ["greatest common divisor", "largest common divisor", "greatest common factor", "largest shared divisor"]),
    (r"least common multiple", ["least common multiple", "smallest common multiple", "lowest shared multiple"]),
    (r"if there (is|are) none", ["if there is none", "when there is none", "in case there is none"]),
    (r"if it is empty", ["if it is empty", "when it is empty", "if there is nothing in it"]),
    (r"if not found", ["if not found", "when it is missing", "if it is absent"]),
    (r"strings", ["strings", "texts"]),
    (r"a string", ["a string", "a text"]),
    (r"starts? with", ["start with", "begin with"]),
    (r"the position of", ["the position of", "the index of", "the place of"]),
    (r"the index of", ["the index of", "the position of", "where to find"]),
    (r"a list of", ["a list of", "a list with", "the list of"]),
    (r"a new list", ["a new list", "a list", "another list"]),
    (r"a copy of", ["a copy of", "a new version of"]),
    (r"multiplied by two|doubled", ["doubled", "multiplied by two", "taken twice"]),
    (r"squared", ["squared", "multiplied by itself", "raised to the second power"]),
    (r"the squares? of", ["the square of", "the second power of"]),
    (r"in lowercase", ["in lowercase", "in lower case", "in small letters"]),
    (r"in uppercase", ["in uppercase", "in upper case", "in capital letters"]),
    (r"only", ["only", "just", "nothing but"]),
]
# At the beginning of an order.
ORDERS = [
    (r"Remove|Drop|Delete", ["Remove", "Drop", "Delete", "Take out", "Throw away", "Leave out"]),
    (r"Count", ["Count", "Count up", "Tally"]),
    (r"Sort", ["Sort", "Order", "Arrange"]),
    (r"Keep only", ["Keep only", "Retain only", "Leave only", "Pick only"]),
    (r"Split", ["Split", "Cut", "Break", "Divide"]),
    (r"Merge|Combine", ["Merge", "Combine", "Join", "Unite"]),
    (r"Join", ["Join", "Concatenate", "Put together"]),
    (r"Add up|Sum up|Sum", ["Add up", "Sum up", "Sum", "Total"]),
    (r"Convert", ["Convert", "Change", "Turn"]),
    (r"Compute|Calculate", ["Compute", "Calculate", "Work out", "Determine", "Evaluate"]),
    (r"Find", ["Find", "Look for", "Search for", "Locate", "Get"]),
    (r"Reverse", ["Reverse", "Turn around", "Flip"]),
    (r"Replace", ["Replace", "Exchange", "Substitute"]),
    (r"Repeat", ["Repeat", "Duplicate"]),
    (r"Double", ["Double", "Multiply by two"]),
    (r"Create|Build|Make", ["Create", "Build", "Make", "Construct", "Produce"]),
]
SAME = [(re.compile(rf"\b(?:{pattern})\b"), words) for pattern, words in SAME]
ORDERS = [(re.compile(rf"^(?:{pattern})\b"), words) for pattern, words in ORDERS]
# Names of arguments and what is quoted stay.
FIXED = re.compile(r"""(\{[^}]*\}|"[^"]*"|'[^']*'|`[^`]*`)""")


def loosen(rng, text, much=0.5):
    """A description (with `{x}` for argument x) in other words; each place is changed with probability `much`."""
    for pattern, words in ORDERS:
        if rng.random() < much:
            text = pattern.sub(lambda _: rng.choice(words), text)
    pieces = FIXED.split(text)
    for i in range(0, len(pieces), 2):
        for pattern, words in SAME:
            if pattern.search(pieces[i]):
                pieces[i] = pattern.sub(lambda m: rng.choice(words) if rng.random() < much else m.group(0), pieces[i])
    return "".join(pieces)


# ------------------------------------------------------------------ sentences
CONDITIONS = [
    "True if {}, else False.", "True when {}; False in all other cases.", "Is it true that {}?", "Say whether {}.", "Decide if {}.", "Find out whether {}.", "Answer True exactly when {}.",
    "Give True if {} and False if not.", "Yields True if {}, False otherwise.", "The answer is True when {}.", "True for an argument such that {}, False for all else.", "Tell if {}.",
    "Return a boolean: True if {}.", "See if {}.", "Verify that {}.", "A predicate: {}.", "Check that {}. Return a bool.",
]
THINGS = [
    "{C}.", "{C}.", "{C}.", "What is {}?", "Work out {}.", "Tell {}.", "The result is {}.", "Determine {}.", "Find out {}.", "This gives {}.", "Yields {}.", "Gives back {}.", "Deliver {}.",
    "Provide {}.", "The function returns {}.", "The answer is {}.", "Evaluate {}.", "Obtain {}.", "We want {}.", "Hand back {}.", "Figure out {}.", "Result: {}.",
]


def condition(rng, text):
    """A sentence that asks for whether `text` holds."""
    return rng.choice(CONDITIONS).format(text)


def thing(rng, text):
    """A sentence that asks for what `text` names."""
    form = rng.choice(THINGS)
    bare = re.sub(r"^(the|a|an) (?=\w)", "", text) if rng.random() < 0.5 else text
    return form.format(text, C=bare[:1].upper() + bare[1:])


def beside(rng, name, description):
    """A sentence about an argument, to stand before what is to be done with it."""
    article = rng.choice(["{n} is {d}.", "{n}: {d}.", "The argument {n} is {d}.", "You get {d} called {n}.", "{D} is given as {n}.", "There is {d}, {n}."])
    return article.format(n=name, d=description, D=description[:1].upper() + description[1:])


ASIDES = [
    "The input is valid.", "No error handling is needed.", "The input may be assumed to be valid.", "Simple and short.", "See the examples.", "Used by other functions.", "This is a small helper.",
    "Works for all inputs of this type.", "Nothing is printed.",
]

# ------------------------------------------------------------------ names
_NUMBER = """age amount area budget candidate capacity celsius code cost day degrees depth digit_source distance dollars floor_number grade height hours income kilometers level
limit mass maximum meters miles minutes money month number_of_items people percent population position power price quantity quota radius rank rate rating room salary seat
size speed steps stock temperature ticket tons total_price turn units volume weight width year_number""".split()
_NUMBERS = """ages amounts areas bills budgets coins costs days depths distances goals grades heights hours incomes lengths levels marks masses measurements minutes months orders
payments points prices profits quantities ranks rates ratings readings results salaries sales samples scores sizes speeds steps stocks temperatures tickets times volumes votes
weights widths years""".split()
_TEXT = """address animal article author book caption chapter city color command comment content country description email entry file_name flower food fruit heading headline
hint input_text label language letter_text license lyrics memo message motto movie note paragraph passage password path_name plant poem post proverb question quote reply
review song speech statement street subject summary tag title tweet user_input username verse""".split()
_TEXTS = """addresses animals articles authors books cities colors commands comments countries emails entries files flowers foods fruits guests heroes ingredients keywords labels
languages lines members messages movies notes people phrases places planets plants players questions quotes replies songs students subjects tags titles towns users verses""".split()
_TABLE = """accounts ages balances birthdays budget capitals costs departments distances grades inventory ledger lookup menu neighbors phone_book pocket points population
prices ranking register salaries scores_by_name settings shelf shop stock stock_levels teams votes weights""".split()
_ANY = """collection content elems entries everything group input_list members my_list objects original pool queue records sequence some_list source stuff the_list things
stack_items given""".split()
_OTHER = ["other", "second", "another", "more", "extra", "later", "rest", "new", "right", "alternative"]

NAMES = {
    "ints": _NUMBERS, "ints1": _NUMBERS, "sorted": _NUMBERS, "nats": _NUMBERS, "floats1": _NUMBERS, "list": _NUMBERS + _TEXTS + _ANY, "list1": _NUMBERS + _TEXTS + _ANY,
    "ints2": [f"{o}_{n}" for o in _OTHER for n in ("values", "numbers", "scores", "items")], "sorted2": [f"{o}_{n}" for o in _OTHER for n in ("values", "numbers", "sorted", "list")],
    "list2": [f"{o}_{n}" for o in _OTHER for n in ("values", "list", "items", "group")], "strs": _TEXTS, "strs1": _TEXTS, "str": _TEXT, "str1": _TEXT, "word": _TEXT, "sent": _TEXT,
    "str2": [f"{o}_{n}" for o in _OTHER for n in ("text", "string", "word", "name")], "int": _NUMBER, "nat": _NUMBER, "pos": _NUMBER, "big": _NUMBER, "float": _NUMBER, "posf": _NUMBER,
    "int2": [f"{o}_{n}" for o in _OTHER for n in ("value", "number", "amount")], "pos2": [f"{o}_{n}" for o in _OTHER for n in ("value", "number", "amount")], "dict": _TABLE,
    "dict1": _TABLE, "thr": ["border", "boundary", "floor_value", "level", "maximum", "minimum", "smallest_allowed", "cut"], "target": ["wanted", "searched", "aim", "looked_for", "desired"],
    "elem": ["wanted", "searched", "looked_for", "needle", "thing", "key_value"], "k": ["width", "every", "portion", "chunk_size", "group_size", "amount", "divisor"],
    "sub": ["snippet", "fragment", "bit", "searched", "wanted"], "char": ["sign", "wanted", "mark", "glyph"], "mat": ["board", "cells", "image", "pixels", "field", "tiles", "numbers"],
    "nested": ["batches", "baskets", "buckets", "classes", "teams", "boxes"],
}  # fmt: skip
# Arguments of a kind that come together, by their first kind.
_NUMBER_GROUPS = ["a b c", "a b c", "a b c", "x y z", "x y z", "m n k", "p q r", "i j k", "u v w", "n m k", "first second third", "num1 num2 num3", "n1 n2 n3", "a1 a2 a3", "left right middle", "one two three"]
_LIST_GROUPS = ["a b c", "xs ys zs", "list1 list2 list3", "l1 l2 l3", "first second third", "nums1 nums2 nums3", "left right middle", "one two three", "left_items right_items more_items"]
_TEXT_GROUPS = ["a b c", "s t u", "s1 s2 s3", "first second third", "text1 text2 text3", "str1 str2 str3", "left right middle", "x y z", "word1 word2 word3", "one two three"]
GROUPS = {
    "int": _NUMBER_GROUPS, "pos": _NUMBER_GROUPS, "posf": _NUMBER_GROUPS, "ints": _LIST_GROUPS, "list": _LIST_GROUPS, "sorted": _LIST_GROUPS, "str": _TEXT_GROUPS,
    "dict": ["a b c", "d1 d2 d3", "first second third", "left right middle", "dict1 dict2 dict3", "old new other"], "set": ["a b c", "s t u", "first second third", "left right middle", "xs ys zs"],
    "point": ["a b c", "p q r", "p1 p2 p3", "first second third", "start end middle"],
}  # fmt: skip
_LETTERS = "abcdefghmnpqrstuvwxyz"
_PREFIXES = ["my_", "the_", "input_", "given_", "some_", "raw_", "old_", "all_", "user_"]


def argument(rng, kind, usual):
    """A name for an argument of this kind, out of the ordinary: from life, a letter, or a usual one with something before it. None if there is none."""
    c = rng.random()
    if c < 0.65 and kind in NAMES:
        return rng.choice(NAMES[kind])
    if c < 0.75:
        return rng.choice(_LETTERS)
    if c < 0.9:
        return rng.choice(_PREFIXES) + rng.choice([u for u in usual if len(u) > 2] or usual)
    return rng.choice(usual) + rng.choice(["_in", "1", "_0", "_list" if kind in ("ints", "list", "strs") else "_arg", "_value" if kind in ("int", "nat", "pos") else "_data"])


def together(rng, kinds):
    """Names for arguments that are alike, such as the two numbers of a greatest common divisor; None where they are not."""
    like = [re.sub(r"\d$", "", {"word": "str", "sent": "str"}.get(kind, kind)) for kind in kinds]
    alike = 2 <= len(kinds) <= 3 and len(set(like)) == 1
    return rng.choice(GROUPS[like[0]]).split()[: len(kinds)] if alike and like[0] in GROUPS else None


# In names of functions.
SAME_IN_NAMES = {
    "largest": ["biggest", "greatest", "highest", "max", "top"], "biggest": ["largest", "greatest", "max"], "max": ["largest", "biggest", "highest", "maximum"], "smallest": ["lowest", "least", "min"],
    "min": ["smallest", "lowest", "minimum"], "count": ["number_of", "tally", "how_many", "amount_of"], "sum": ["total", "add_up", "sum_up"], "total": ["sum", "whole"], "remove": ["drop", "delete", "discard", "strip_out"],
    "find": ["locate", "search", "get", "look_up"], "get": ["fetch", "take", "give"], "filter": ["keep", "pick", "select", "choose"], "reverse": ["backwards", "turn_around", "flip", "mirror"], "reversed": ["backwards", "flipped"],
    "list": ["items", "values"], "string": ["text", "str"], "words": ["terms", "tokens"], "numbers": ["values", "nums", "integers"], "duplicates": ["repeats", "doubles"], "unique": ["distinct", "different"],
    "average": ["mean", "avg", "typical"], "merge": ["combine", "unite", "join"], "split": ["cut", "divide", "break_up"], "sort": ["order", "arrange"], "sorted": ["ordered", "arranged"], "check": ["test", "verify"],
    "compute": ["calculate", "calc", "work_out"], "convert": ["change", "turn", "transform"], "index": ["position", "place"], "first": ["earliest", "leading"], "last": ["final", "trailing"], "longest": ["widest", "largest"],
    "letters": ["chars", "characters"], "chars": ["letters", "characters"], "common": ["shared", "mutual"], "frequency": ["histogram", "occurrences"], "double": ["twice", "times_two"], "square": ["second_power", "squared"],
    "replace": ["swap", "exchange"], "contains": ["has", "includes", "holds"], "create": ["make", "build"], "even": ["evens"], "odd": ["odds"], "multiply": ["times", "product_of"], "capitalize": ["title", "upper_first"],
}  # fmt: skip
_SAYS_NOTHING = """answer apply calculate code compute do_it do_task evaluate exercise f foo func function g handle helper job main_task my_func my_function operation perform problem process routine run
solution solve step task transform util work challenge kata quiz""".split()


def function(rng, name):
    """Another name for a function: words exchanged, or a name that says nothing."""
    c = rng.random()
    if c < 0.10:
        return rng.choice(_SAYS_NOTHING) + rng.choice(["", "", "", "1", "2", "_a", "_b", "_3"])
    if c < 0.45:
        return "_".join(rng.choice(SAME_IN_NAMES[part]) if part in SAME_IN_NAMES and rng.random() < 0.6 else part for part in name.split("_"))
    if c < 0.50:
        return name + rng.choice(["_of", "_in", "_for", "_from", "_it", "_all", "_value", "_result", "_simple", "_quick", "2"])
    return name
