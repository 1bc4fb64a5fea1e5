//! An answer that adds to the pieces that a file has.

use bass_tui::language::Language;

use super::edits::{taken, taken_as_said, target};

#[test]
fn a_type_gets_the_fields_that_the_answer_adds_to_it() {
    // Go: the lines are aligned as in the answer; comments of the file stay.
    let file = "package p\n\nimport \"fmt\"\n\n// Store keeps values.\ntype Store struct {\n\t// By name.\n\tall map[string]int\n\tn   int // Their number.\n}\n\nfunc NewStore() *Store {\n\treturn &Store{all: map[string]int{}}\n}\n\nfunc (s *Store) Put(name string) {\n\tfmt.Println(name)\n}\n";
    let answer = "package p\n\nimport (\n\t\"fmt\"\n\t\"sync\"\n)\n\ntype Store struct {\n\tall   map[string]int\n\tn     int\n\tmutex sync.Mutex\n\tseen  map[string]bool\n}\n\nfunc NewStore() *Store {\n\treturn &Store{all: map[string]int{}, seen: map[string]bool{}}\n}\n\nfunc (s *Store) Put(name string) {\n\ts.mutex.Lock()\n\tdefer s.mutex.Unlock()\n\ts.seen[name] = true\n}\n";
    let wanted = "package p\n\nimport (\n\t\"sync\"\n)\n\n// Store keeps values.\ntype Store struct {\n\t// By name.\n\tall   map[string]int\n\tn   int // Their number.\n\tmutex sync.Mutex\n\tseen  map[string]bool\n}\n\nfunc NewStore() *Store {\n\treturn &Store{all: map[string]int{}, seen: map[string]bool{}}\n}\n\nfunc (s *Store) Put(name string) {\n\ts.mutex.Lock()\n\tdefer s.mutex.Unlock()\n\ts.seen[name] = true\n}\n";
    let fenced = format!("```go\n{answer}```\n");
    let program = taken_as_said(file, Language::Go, "Store.Put", &fenced).0;
    assert_eq!(program.replace("import \"sync\"", "import (\n\t\"sync\"\n)"), wanted);
    // A type stays as it is where the body uses nothing of the new, and one with less or other fields, too.
    let file = "struct A {\n    x: u8,\n}\n\nfn f(a: &A) -> u8 {\n    todo!()\n}\n\nenum Kind {\n    One,\n}\n";
    for (more, body) in
        [("    x: u8,\n    unused: u8,\n", "a.x"), ("    y: u8,\n", "a.y"), ("    x: u16,\n    y: u8,\n", "a.y")]
    {
        let answer = format!("struct A {{\n{more}}}\n\nfn f(a: &A) -> u8 {{\n    {body}\n}}\n");
        let wanted = file.replace("todo!()", body);
        assert_eq!(taken_as_said(file, Language::Rust, "f", &format!("```rust\n{answer}```\n")).0, wanted, "{more}");
    }
    // A variant of a type behind the function.
    let answer = "enum Kind {\n    One,\n    Two,\n}\n\nfn f(a: &A) -> u8 {\n    Kind::Two as u8 + a.x\n}\n";
    let wanted = file.replace("todo!()", "Kind::Two as u8 + a.x").replace("    One,\n", "    One,\n    Two,\n");
    assert_eq!(taken(file, Language::Rust, "f", answer), wanted);
    // On one line.
    let file = "pub struct P { pub x: f64 }\n\npub fn f(p: &P) -> f64 {\n    todo!()\n}\n";
    let answer = "pub struct P { pub x: f64, pub y: f64 }\n\npub fn f(p: &P) -> f64 {\n    p.x + p.y\n}\n";
    let wanted = file.replace("todo!()", "p.x + p.y").replace("pub x: f64 }", "pub x: f64, pub y: f64 }");
    assert_eq!(taken(file, Language::Rust, "f", answer), wanted);
    let file = "/**\n * What can be chosen.\n */\nexport interface Options {\n  retries: number;\n}\n\nexport function delays(o: Options): number[] {\n  return [];\n}\n";
    let answer = "export interface Options {\n    retries: number;\n    /** Milliseconds. */\n    delay?: number;\n}\n\nexport function delays(o: Options): number[] {\n    return Array(o.retries).fill(o.delay ?? 100);\n}\n";
    let wanted = "/**\n * What can be chosen.\n */\nexport interface Options {\n  retries: number;\n  /** Milliseconds. */\n  delay?: number;\n}\n\nexport function delays(o: Options): number[] {\n  return Array(o.retries).fill(o.delay ?? 100);\n}\n";
    assert_eq!(taken(file, Language::TypeScript, "delays", answer), wanted);
}

#[test]
fn a_constructor_gets_the_lines_that_the_answer_adds_to_it() {
    let file = "class Worker:\n    def __init__(self, handler):\n        \"\"\"Makes one.\n\n        It waits.\n        \"\"\"\n        # What is called.\n        self.handler = handler\n\n    def run(self, jobs):\n        pass\n\n\nclass Other:\n    def __init__(self, handler):\n        self.handler = handler\n";
    let answer = "class Worker:\n    def __init__(self, handler):\n        self.handler = handler\n        self.errors = []\n\n    def run(self, jobs):\n        for job in jobs:\n            self.errors.append(self.handler(job))\n";
    let body = "for job in jobs:\n            self.errors.append(self.handler(job))\n";
    let wanted = file.replacen("self.handler = handler\n", "self.handler = handler\n        self.errors = []\n", 1);
    let wanted = wanted.replace("pass\n", body);
    assert_eq!(taken(file, Language::Python, "Worker.run", answer), wanted);
    // One behind the function, and one that sets what nothing uses.
    let file = "class A {\n  get(k) {\n  }\n\n  constructor(max) {\n    this.max = max;\n  }\n}\n";
    let answer = "class A {\n  constructor(max) {\n    this.max = max;\n    this.map = new Map();\n  }\n\n  get(k) {\n    return this.map.get(k);\n  }\n}\n";
    let wanted = "class A {\n  get(k) {\n    return this.map.get(k);\n  }\n\n  constructor(max) {\n    this.max = max;\n    this.map = new Map();\n  }\n}\n";
    assert_eq!(taken(file, Language::JavaScript, "A.get", answer), wanted);
    let answer = answer.replace("return this.map.get(k)", "return this.max");
    let wanted = file.replace("get(k) {\n", "get(k) {\n    return this.max;\n");
    assert_eq!(taken(file, Language::JavaScript, "A.get", &answer), wanted);
    let target = target(file, Language::JavaScript, "A.get");
    assert!(target.completed("    return 1;\n  }\n").ends_with("return 1;\n  }"));
    let file = "pub struct Cache {\n    max: usize,\n}\n\nimpl Cache {\n    pub fn new(max: usize) -> Self {\n        Self { max }\n    }\n\n    pub fn hit(&mut self) -> usize {\n        todo!()\n    }\n}\n";
    let answer = "pub struct Cache {\n    max: usize,\n    hits: usize,\n}\n\nimpl Cache {\n    pub fn new(max: usize) -> Self {\n        Self { max, hits: 0 }\n    }\n\n    pub fn hit(&mut self) -> usize {\n        self.hits += 1;\n        self.hits.min(self.max)\n    }\n}\n";
    assert_eq!(taken(file, Language::Rust, "Cache.hit", answer), answer);
}

/// The file with what an answer of several blocks makes of it.
fn of_blocks(file: &str, language: Language, name: &str, blocks: &[&str]) -> String {
    let fenced = |block: &&str| format!("\n1. **So**\n\n```{}\n{block}```\n", language.name());
    let answer = String::from("Two changes.\n") + &blocks.iter().map(fenced).collect::<String>();
    taken_as_said(file, language, name, &answer).0
}

#[test]
fn a_change_of_a_type_may_have_a_block_of_its_own() {
    let file = "package p\n\nimport \"errors\"\n\n// ErrEmpty is known.\nvar ErrEmpty = errors.New(\"empty\")\n\ntype Store interface {\n\tGet(k string) int\n}\n\ntype Hub struct {\n\tn int\n}\n\nfunc New() *Hub {\n\treturn &Hub{\n\t\tn: 1,\n\t}\n}\n\nfunc (h *Hub) Run(s Store) error {\n\treturn nil\n}\n";
    let first = "type Store interface {\n\tGet(k string) int\n\t// Put keeps.\n\tPut(k string)\n}\n\ntype Hub struct {\n\tn    int\n\tseen map[string]int\n}\n\nfunc New() *Hub {\n\treturn &Hub{\n\t\tn:    1,\n\t\tseen: map[string]int{},\n\t}\n}\n\nvar (\n\tErrEmpty = errors.New(\"empty\")\n\tErrFull  = errors.New(\"full\")\n)\n";
    let second = "func (h *Hub) Run(s Store) error {\n\ts.Put(\"a\")\n\th.seen[\"a\"]++\n\treturn ErrFull\n}\n";
    let wanted = "package p\n\nimport \"errors\"\n\n// ErrEmpty is known.\nvar ErrEmpty = errors.New(\"empty\")\n\ntype Store interface {\n\tGet(k string) int\n\t// Put keeps.\n\tPut(k string)\n}\n\ntype Hub struct {\n\tn    int\n\tseen map[string]int\n}\n\nfunc New() *Hub {\n\treturn &Hub{\n\t\tn:    1,\n\t\tseen: map[string]int{},\n\t}\n}\n\nvar ErrFull = errors.New(\"full\")\n\nfunc (h *Hub) Run(s Store) error {\n\ts.Put(\"a\")\n\th.seen[\"a\"]++\n\treturn ErrFull\n}\n";
    assert_eq!(of_blocks(file, Language::Go, "Hub.Run", &[first, second]), wanted);
    // An enum of Python with methods that the answer leaves out, and a method without its class.
    let file = "import enum\n\n\nclass State(enum.Enum):\n    \"\"\"Of a task.\"\"\"\n\n    OPEN = 1\n\n    def done(self):\n        return False\n\n\nclass Task:\n    def __init__(self):\n        self.state = State.OPEN\n\n    def cancel(self):\n        pass\n";
    let first = "class State(enum.Enum):\n    OPEN = 1\n    GONE = 2\n";
    let second = "    def cancel(self):\n        self.state = State.GONE\n";
    let wanted = file.replace("OPEN = 1\n", "OPEN = 1\n    GONE = 2\n").replace("pass\n", "self.state = State.GONE\n");
    assert_eq!(of_blocks(file, Language::Python, "Task.cancel", &[first, second]), wanted);
    // Behind the function, where the object itself lacks it.
    let file = "struct A {\n    x: u8,\n}\n\nimpl A {\n    /// Makes one.\n    fn new() -> Self {\n        let x = 1;\n        Self { x }\n    }\n\n    fn f(&mut self) -> u8 {\n        todo!()\n    }\n}\n";
    let first = "fn f(&mut self) -> u8 {\n    self.hits += 1;\n    self.x\n}\n";
    let second =
        "struct A {\n    x: u8,\n    hits: u8,\n}\n\n// in impl A\nfn new() -> Self {\n    Self { x: 1, hits: 0 }\n}\n";
    let wanted = "struct A {\n    x: u8,\n    hits: u8,\n}\n\nimpl A {\n    /// Makes one.\n    fn new() -> Self {\n        Self { x: 1, hits: 0 }\n    }\n\n    fn f(&mut self) -> u8 {\n        self.hits += 1;\n        self.x\n    }\n}\n";
    assert_eq!(of_blocks(file, Language::Rust, "A.f", &[first, second]), wanted);
}

#[test]
fn an_implementation_grows_with_its_type_and_others_come_only_where_code_needs_them() {
    let file = "use std::fmt;\n\n#[derive(Debug)]\npub enum Fault {\n    Empty,\n}\n\nimpl fmt::Display for Fault {\n    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {\n        match self {\n            Fault::Empty => write!(f, \"empty\"),\n        }\n    }\n}\n\npub struct P(u8);\n\npub fn f(p: P) -> Result<P, Fault> {\n    todo!()\n}\n";
    let answer = "#[derive(Debug, Hash)]\npub enum Fault {\n    Empty,\n    Full(u8),\n}\n\nimpl fmt::Display for Fault {\n    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {\n        match self {\n            Fault::Empty => write!(f, \"empty\"),\n            Fault::Full(n) => write!(f, \"{n}\"),\n        }\n    }\n}\n\nimpl std::ops::Add for P {\n    type Output = P;\n\n    fn add(self, other: P) -> P {\n        P(self.0 + other.0)\n    }\n}\n\nimpl fmt::Display for P {\n    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {\n        write!(f, \"P\")\n    }\n}\n\npub fn f(p: P) -> Result<P, Fault> {\n    if p.0 > 9 {\n        return Err(Fault::Full(p.0));\n    }\n    Ok(p + P(1))\n}\n";
    let program = taken(file, Language::Rust, "f", answer);
    let is_once = |text: &str| program.matches(text).count() == 1;
    assert!(is_once("impl fmt::Display for Fault") && is_once("Fault::Full(n) =>"), "{program}");
    assert!(is_once("impl std::ops::Add for P") && !program.contains("impl fmt::Display for P"), "{program}");
    let plain = answer.replace("Ok(p + P(1))", "Ok(p)");
    assert!(!taken(file, Language::Rust, "f", &plain).contains("Add for P"));
    // Nothing in it is used.
    let plain = answer.replace("Err(Fault::Full(p.0))", "Err(Fault::Empty)").replace("Ok(p + P(1))", "Ok(p)");
    let program = taken(file, Language::Rust, "f", &plain);
    assert!(!program.contains("Full") && !program.contains("Hash"), "{program}");
}

#[test]
fn constructors_of_typescript_get_parameters_and_unions_variants() {
    let file = "type Action =\n  | { type: 'add' }\n  | { type: 'drop' };\n\nexport class Auth {\n  constructor(private readonly users: Users) {}\n\n  run(action: Action): string {\n    throw new Error('TODO');\n  }\n}\n";
    let answer = "type Action =\n  | { type: 'add' }\n  | { type: 'drop' }\n  | { type: 'clear' };\n\nexport class Auth {\n  constructor(\n    private readonly users: Users,\n    private readonly mail: Mail,\n  ) {}\n\n  run(action: Action): string {\n    return action.type === 'clear' ? this.mail.send() : '';\n  }\n}\n";
    assert_eq!(taken(file, Language::TypeScript, "Auth.run", answer), answer);
    // A class without a constructor, and an example of its use.
    let file = "export class Bus {\n  private all = new Map<string, number>();\n\n  send(name: string): number {\n    return 0;\n  }\n}\n";
    let first = "export class Bus {\n  private all = new Map<string, number>();\n  private readonly max?: number;\n\n  constructor(options: { max?: number } = {}) {\n    this.max = options.max;\n  }\n\n  send(name: string): number {\n    return (this.all.get(name) ?? 0) + (this.max ?? 0);\n  }\n}\n";
    let second = "const b = new Bus({ max: 3 });\nb.send('a');\n";
    let program = of_blocks(file, Language::TypeScript, "Bus.send", &[first, second]);
    assert!(program.contains("this.max = options.max") && !program.contains("const b"), "{program}");
}

#[test]
fn what_an_answer_writes_in_another_style_stays() {
    let file = "class Q {\n  constructor(n) {\n    this.n = n;\n    this.all = [];\n  }\n\n  push(x) {\n    this.all.push(x);\n  }\n\n  async drain() {\n    throw new Error('no');\n  }\n}\n";
    let answer = "class Q {\n  constructor(n) {\n    this.n = n\n    this.all = []\n    this.busy = false\n  }\n\n  push(x) {\n    this.all.push(x)\n  }\n\n  async drain() {\n    this.busy = true\n  }\n}\n";
    let program = taken(file, Language::JavaScript, "Q.drain", answer);
    let wanted =
        file.replace("= [];\n", "= [];\n    this.busy = false\n").replace("throw new Error('no');", "this.busy = true");
    assert_eq!(program, wanted);
    let file = "import functools\n\n\n@functools.cache\ndef f(n):\n    pass\n";
    let answer = "from functools import cache\n\n@cache\ndef f(n):\n    return n\n";
    assert_eq!(taken(file, Language::Python, "f", answer), file.replace("pass", "return n"));
}

#[test]
fn a_field_that_comes_along_is_no_use_of_its_name() {
    let file =
        "export class Bus {\n  private all = new Map<string, () => void>();\n\n  run(name: string): void {\n  }\n}\n";
    let own = "  private readonly onError?: (error: unknown) => void;\n\n  constructor(options: Options = {}) {\n    this.onError = options.onError;\n  }\n\n";
    let types = "export interface Options {\n  onError?: (error: unknown) => void;\n}\n\n";
    let body = "    try {\n      this.all.get(name)?.();\n    } catch (error) {\n      this.onError?.(error);\n    }\n";
    let class = format!("export class Bus {{\n{own}  run(name: string): void {{\n{body}  }}\n}}\n");
    let usage = "const bus = new Bus({ onError: (error) => console.error(error) });\nbus.run('a');\n";
    let program = of_blocks(file, Language::TypeScript, "Bus.run", &[&format!("{types}{class}"), usage]);
    let (head, rest) = file.split_once("  run(").unwrap();
    let wanted = format!("{types}{head}{own}  run({}", rest.replace("void {\n", &format!("void {{\n{body}")));
    assert_eq!(program, wanted);
    // An example that says what the class has.
    let exported = format!("{file}\nexport const all = new Bus();\n");
    let usage = "const one = new Bus({ onError: (error) => console.error(error) });\none.run('a');\n";
    let program = of_blocks(&exported, Language::TypeScript, "Bus.run", &[&format!("{types}{class}"), usage]);
    assert_eq!(program, format!("{wanted}\nexport const all = new Bus();\n"));
}
