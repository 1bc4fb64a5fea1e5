# Compiles the text on descriptor 3 and says on descriptor 4 what is wrong with it.
import ast
import json
import os

text = os.fdopen(3, "rb").read().decode()
problem = None
try:
    ast.parse(text)
except (SyntaxError, ValueError) as error:
    problem = "%s (line %s)" % (getattr(error, "msg", error), getattr(error, "lineno", "?"))
os.write(4, json.dumps({"problem": problem}).encode())
