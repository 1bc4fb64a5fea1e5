"""Renders chat templates with jinja2, set up as transformers does.

    render.py > constructs.json          the templates below: one for each part of the language
    render.py FOLDER > cases.json        all *.jinja of a folder, for the test `published_templates`

Needs jinja2. Every template is run on every conversation, with thoughts on, off and not mentioned.
"""

import datetime
import json
import sys
from pathlib import Path

import jinja2.ext
from jinja2 import nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
CODE = "    def f(x):\n\treturn \"\\n\" + 'é' # {{ x }} {% if %} \u2028 <b>&amp;\n        \n"


def said(*words):
    roles = ["user", "assistant"] * len(words)
    return [{"role": role, "content": text} for role, text in zip(roles, words)]


def with_system(words, turns):
    return [{"role": "system", "content": words}, *turns]


CONVERSATIONS = {
    "code": said(CODE),
    "system": with_system("  Be brief.\n\n", said(CODE)),
    "turns": said(CODE, CODE, "And\n" + CODE),
    "short": with_system("You \\ are", said("a", "  b\n", "c  ")),
    "thoughts": said("a", "<think>\nwell\n  hm\n</think>\n\n  answer\n", "next"),
    "odd thoughts": said("a", "<think></think>x", "b", "no thoughts </think> here\n", "next"),
    "last": said("a", "<think>\nt\n</think>\n\nanswer \n"),
    "tools": said("<tool_response>\nx\n</tool_response>", "y", "<tool_response>z</tool_response>"),
    "empty": said("", "", " "),
    "words": said("a", "<|channel|>analysis<|message|>hm<|end|>", "b /no_think"),
}

# (part of the language, template)
CONSTRUCTS = [
    ("escapes", r"""{{ '\d\w\/' }}|{{ '\x41\u00e9\U0001F600\101\ud83d\ude00' }}|{{ '\a\v\0' }}|{{ 'it\'s "' }}|{{ "\\n" }}"""),
    ("a line end in a string", "{{ 'a\\\nb\nc' }}|{{ 'a' \"b\" 'c' }}|{{ '{% x %}}}' }}|{{ {'a': {}} }}|{# '{{ #}"),
    ("brackets", r"""{{ {'a': {'b': 1}}['a']['b'] ~ '\/' }}|{{ [{'a': ({},)}] }}{{ '\w' }}"""),
    ("raw", "{% raw %}{{ '\\d' }}{% generation %}'{% endraw %}|{{ 'a' }}|{% raw -%}  x{% endraw %}"),
    ("generation", "{% set x = 1 %}{% for m in messages %}\n  {% generation %}\n  {{ m.role }}{% set x = 2 %}\n"
     "  {% endgeneration %}\n{%- generation -%} {{ x }} {%- endgeneration -%} !\n{% endfor %}{{ x }}"),
    ("JSON", "{{ messages | tojson }}{{ '<a href=\"x\">&\\'é\\u2028\\x7f\\x01' | tojson }}"),
    ("JSON in lines", "{% set d = {'b': [1, {}], 'a': {'c': none}, 'e': []} %}{{ d | tojson(indent=2) }}{{ d | tojson(indent='\\t') }}"
     "{{ d | tojson(indent=none) }}{{ d | tojson(indent=0) }}{{ d | tojson(false, 1) }}"),
    ("JSON by arguments", "{% set d = {'b': 'é😀\\x7f', 'a': 1} %}{{ d | tojson(ensure_ascii=True) }}{{ d | tojson(true) }}"
     "{{ d | tojson(separators=(',', ':')) }}{{ d | tojson(sort_keys=True) }}{{ d | tojson(ensure_ascii=False, indent=1, separators=(',', ' = ')) }}"),
    ("JSON of numbers", "{{ [1.0, 1e16, 1e-7, 0.1, -2.5, 1e22, 123456789.125, 7, true, none, (1, 2)] | tojson }}{{ {1: 2, none: 3, 1.5: 5} | tojson }}"),
    ("what is printed", "{{ none }}|{{ true }}|{{ 1.0 }}|{{ 4 / 2 }}|{{ 2 ** 3 }}|{{ -7 // 2 }}|{{ -7 % 3 }}|{{ 'a' ~ 1 ~ none ~ true ~ 1.0 }}|{{ [1, 'a', none, \"it's\"] }}|{{ {'b': 1, 'a': (1,)} }}"),
    ("order", "{% set d = {'z': 1, 'b': 2, 'a': 3} %}{% for k, v in d.items() %}{{ k }}{{ v }}{% endfor %}{{ d.keys() | list }}{{ d.values() | list }}{{ d | list }}{{ d | dictsort }}{{ d | items | list }}{{ dict(z=1, a=2) }}"),
    ("stripping", "{{ ' \\x1c\\xa0x\\u2028 '.strip() }}|{{ 'xxaxx'.strip('x') }}|{{ ' a '.lstrip() }}|{{ 'a\\n \\n'.rstrip('\\n') }}|{{ ' a '.strip(none) }}|{{ ' \\x1fa ' | trim }}|{{ 5 | trim }}|{{ 'xax' | trim('x') }}"),
    ("splitting", "{{ ' a  b c '.split() }}{{ ' a  b '.split(' ') }}{{ ' a b  c '.split(none, 1) }}{{ 'a,b,c'.split(',', maxsplit=1) }}{{ 'a,b'.split(sep=',') }}{{ ''.split() }}{{ ''.split(',') }}"
     "{{ 'a,b,c'.rsplit(',', 1) }}{{ ' a  b c '.rsplit(none, 1) }}{{ ' a '.rsplit() }}{{ 'a=b=c'.partition('=') }}{{ 'a=b=c'.rpartition('=') }}{{ 'a'.partition('=') }}{{ 'a'.rpartition('=') }}"),
    ("lines", "{{ 'a\\nb\\r\\nc\\u2028d\\x0be\\rf\\n'.splitlines() }}{{ 'a\\r\\nb\\n\\n'.splitlines(true) }}{{ 'a\\n'.splitlines(keepends=true) }}{{ ''.splitlines() }}"),
    ("margins", "{{ 'a\\nb\\n\\nc\\n' | indent }}|{{ 'a\\nb' | indent(2, true) }}|{{ 'a\\n\\nb' | indent(2, blank=true) }}|{{ 'a\\nb' | indent(width=3, first=true) }}|{{ 'a\\nb' | indent('>>') }}|{{ '' | indent }}"),
    ("finding", "{% set s = 'Hellö World' %}{{ s.find('o') }}{{ s.rfind('o') }}{{ s.find('z') }}{{ s.find('l', 4) }}{{ s.find('d', -2) }}{{ s.index('o') }}{{ s.rindex('l') }}{{ s.count('l') }}"
     "{{ s.startswith(('x', 'He')) }}{{ s.startswith('W', 6) }}{{ s.endswith(('x', 'ld')) }}{{ [3, 1].index(1) }}{{ 'll' in s }}{{ 'z' not in s }}"),
    ("other methods", "{{ \"they're bill's\".title() }}|{{ \"they're bill's\" | title }}|{{ 'abc'.removeprefix('a') }}|{{ 'abc'.removesuffix('x') }}|{{ '-7'.zfill(4) }}|{{ 'a'.ljust(3) }}|{{ 'a'.rjust(3, '-') }}|{{ 'ab'.center(5) }}|{{ 'a'.center(4) }}|{{ 'Ab'.casefold() }}|{{ '1'.isdecimal() }}"
     "|{{ 'aaa'.replace('a', 'b', 2) }}|{{ 'aa'.replace('a', '') }}|{{ ', '.join(['a', 'b']) }}|{{ {'a': 1}.copy() }}|{{ [1].copy() }}|{{ {'a': 1}.get('b', 2) }}|{{ {'a': none}.get('a', 2) }}|{{ {'a': 1}.get('b') }}"),
    ("formats", "{{ '{}-{}'.format(1, 'x') }}|{{ '{1}{0}'.format('a', 'b') }}|{{ '{x}'.format(x=1) }}|{{ '{:.2f} {:>5} {:05d}'.format(1.234, 'a', 42) }}|{{ '{{}}'.format() }}|{{ '%s=%d' | format('a', 1) }}"),
    ("slices", "{% set s = 'Hello' %}{{ s[::-1] }}|{{ s[-3:] }}|{{ s[1:-1:2] }}|{{ s[9:] }}|{{ s[-1] }}{% set l = [3, 1, 2] %}{{ l[::-1] }}{{ l[3:0:-1] }}{{ l[-2:] }}{{ l[9] is defined }}{{ (messages | last).role }}{{ messages[::-1][0].role }}"),
    ("tests", "{% for x in [none, 's', 1, 1.0, true, [], (1,), {}, missing] %}{{ x is defined }}{{ x is none }}{{ x is string }}{{ x is mapping }}{{ x is iterable }}{{ x is sequence }}{{ x is number }}{{ x is integer }}{{ x is boolean }}\n{% endfor %}"),
    ("what is missing", "{{ missing }}|{{ missing | length }}|{{ missing | default('x') }}|{{ none | default('x') }}|{{ '' | default('x', true) }}|{{ none | default('x', boolean=true) }}|{{ missing | d }}|{{ none.foo is defined }}|{{ messages[0].foo is none }}|{{ missing == none }}|{{ messages[0].foo.bar | default(1) if false }}"),
    ("numbers", "{{ '12' | int }}{{ 'x' | int }}{{ 'x' | int(5) }}{{ 'x' | int(default=6) }}{{ 2.9 | int }}{{ none | int }}|{{ 'x' | float }}{{ '1.5' | float }}|{{ 2.5 | round }}|{{ 2.7 | round | int }}|{{ 1.25 | round(1) }}|{{ 1.29 | round(1, 'floor') }}|{{ 7 // 2 * 2 }}|{{ 7 / 2 }}|{{ 'ab' * 2 }}|{{ 2 * [1] }}"),
    ("lists", "{{ messages | selectattr('role', 'equalto', 'user') | list | length }}{{ messages | rejectattr('role', 'eq', 'user') | map(attribute='role') | join(' ') }}{{ messages | selectattr('tool_calls', 'defined') | list }}{{ ['b', 'A', 'a'] | sort }}{{ ['b', 'A', 'a'] | unique | list }}"
     "{{ [3, 1] | first }}{{ [3, 1] | last }}{{ [3, 1] | min }}{{ [] | first is defined }}{{ ['a', 'b'] | map('upper') | join }}{{ [1, 2, 3] | select('odd') | list }}{{ [1, none, true] | join('-') }}{{ [3, 1] | reverse | list }}{{ messages | groupby('role') | map(attribute='grouper') | list }}"),
    ("marks of HTML", "{{ '<a href=\\'x\\'>&\"' | escape }}|{{ '<' | e | e }}|{{ '<' | safe }}|{{ '<' | e | upper }}"),
    ("loops", "{% for x in [3, 1, 2, 1] %}{{ loop.index0 }}{{ loop.revindex }}{{ loop.first }}{{ loop.length }}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.cycle('a', 'b') }}{% if x == 2 %}{% break %}{% endif %}{% if x == 1 %}{% continue %}{% endif %}!{% endfor %}"
     "{% for x in [1, 2] if x > 1 %}{{ loop.index }}{% else %}no{% endfor %}{% for x in missing %}{% else %}no{% endfor %}{% for a, b in [(1, 2)] %}{{ a + b }}{% endfor %}"),
    ("names", "{% set x = 1 %}{% for i in [1] %}{% set x = 2 %}{{ x }}{% endfor %}{{ x }}{% if true %}{% set x = 3 %}{% endif %}{{ x }}{% set ns = namespace(a=1) %}{% for i in [1, 2] %}{% set ns.a = ns.a + i %}{% endfor %}{{ ns.a }}{{ ns.b is defined }}{% set a, b = 1, 2 %}{{ b }}{% set y %} {{ a }} {% endset %}[{{ y }}]"),
    ("macros", "{% macro m(a, b='x') %}{{ a }}{{ b }}{{ k }}{% endmacro %}{% set k = 5 %}{{ m(1) }}|{{ m(b=3) }}|{{ m('é') | upper }}|{{ m(1) + 'z' }}{% macro c() %}[{{ caller() }}]{% endmacro %}{% call c() %}x{% endcall %}{% macro r(n) %}{{ n }}{{ r(n - 1) if n }}{% endmacro %}{{ r(3) }}"),
    ("white space", "a  \n  {% if true %}  \n  x  \n  {% endif %}  \ny {# c #} z\n  {# line #}\nw\n  {%+ if true %}a{% endif +%}\nb\n{%- for m in messages -%}\n    {%- if loop.first -%}\n  U\n    {% else %}\n  A\n    {% endif %}\n{%- endfor %}\n   {{ 'x' -}}   \n\ny{{- 'z' }}\r\n\n"),
    ("dates", "{{ strftime_now('%Y-%m-%d %H:%M:%S %d %b %B %A %a %j %-d %-m %y %I %p %F %T %D %e %R %% %%Y %Z%z %U %w %u %V %G %f %h %c %x %X %n%t') }}{{ strftime_now is defined }}{{ date_string is defined }}"),
    ("words of the turns", "{% for m in messages %}{{ m.role }}:{{ m.content.split('</think>')[-1].lstrip('\\n') }}|{{ m.content | trim }}|{{ m.content.split('</think>')[0].rstrip('\\n').split('<think>')[-1] }}{% if '</think>' in m.content %}!{% endif %}{{ m.content | length }}{% endfor %}"),
    ("an error of its own", "{% if messages[0].content == 'a' %}{{ raise_exception('no') }}{% endif %}ok"),
]


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_said"), [], [], body).set_lineno(line)

    def _said(self, caller):
        return caller()


def environment():
    env = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
    )

    def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(
            value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
        )

    def refuse(message):
        raise jinja2.exceptions.TemplateError(message)

    env.filters["tojson"] = to_json
    env.globals["raise_exception"] = refuse
    env.globals["strftime_now"] = datetime.datetime(2025, 1, 1).strftime
    return env


def rendered(template, messages, more):
    """The text, or None where the template refuses."""
    try:
        return template.render(
            messages=messages, tools=None, documents=None, add_generation_prompt=True, **TOKENS, **more
        )
    except Exception:
        return None


def main():
    if len(sys.argv) > 1:
        files = sorted(Path(sys.argv[1]).glob("*.jinja"))
        templates = [(path.name, path.read_bytes().decode()) for path in files]
    else:
        templates = CONSTRUCTS
    env = environment()
    rows = []
    for name, text in templates:
        template = env.from_string(text)
        all_turns = CONVERSATIONS
        if len(sys.argv) == 1:
            # The language alone: the words matter to few.
            names = list(all_turns) if "content" in text else ["turns"]
            all_turns = {key: all_turns[key] for key in names}
        cases = []
        for key, messages in all_turns.items():
            for thinking in [None, True, False] if "enable_thinking" in text else [None]:
                more = {} if thinking is None else {"enable_thinking": thinking}
                cases.append({"turns": key, "thinking": thinking, "text": rendered(template, messages, more)})
        rows.append({"name": name, "template": text, "cases": cases})
    turns = {key: [[m["role"], m["content"]] for m in messages] for key, messages in CONVERSATIONS.items()}
    json.dump({"turns": turns, "templates": rows}, sys.stdout, ensure_ascii=True, indent=1)
    print()


if __name__ == "__main__":
    main()
