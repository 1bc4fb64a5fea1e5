//! Uses in code in Go that no function needs.

use crate::code::Word;
use crate::trial::suspicious::{Imports, Kind, Table, Uses};

pub const TABLE: Table =
    Table { uses: USES, imports, patches: |_, _| Vec::new(), paths: |_| Vec::new(), has_members_by_text: false };

const USES: &[Uses] = &[
    (Kind::OwnProcess, "~/proc"),
    (Kind::Exit, "os . Exit, runtime . Goexit, syscall . Exit, syscall . Kill, syscall . Exec, syscall . RawSyscall*"),
    (Kind::Early, "line://go:linkname, line://go:cgo_, line://export"),
    (Kind::Init, "func init ("),
    (Kind::Skip, "SkipNow, t . Skip, t . Skipf, Skipf"),
    (
        Kind::Framework,
        "func TestMain, testing . MainStart, testing . Main, testing . RunTests, testing . Init, ~-test., 'test.v', \
         'test.run', import:testing/internal, flag . Set, * os . Stdout, os . Stdout . SetDeadline, os . Stdout . \
         SetWriteDeadline, flag . CommandLine",
    ),
    (Kind::Tests, "import:testing"),
    (
        Kind::Judges,
        "func len (, func panic (, func recover (, func append (, func cap (, func copy (, func make (, func new (, \
         func print (, func println (, const true, var true, const false, var false, true = false, false = true, var \
         nil, type string, type bool, type error, type int, type float64",
    ),
    (Kind::Detects, "testing . Testing, flag . Lookup"),
    (Kind::Traces, "runtime . Caller*, runtime . Stack, debug . Stack, debug . PrintStack"),
    (Kind::Native, "import:unsafe, import:C, reflect . NewAt, UnsafePointer, import:plugin"),
    (Kind::Heap, "WriteHeapDump"),
    (
        Kind::Raw,
        "os . NewFile, syscall . Write, syscall . Read, syscall . Pread, syscall . Syscall*, syscall . RawSyscall*, \
         UnsafeAddr, unsafe . Pointer ( uintptr, unsafe . Add, unsafe . Slice",
    ),
    (Kind::Hooks, "SetFinalizer, signal . Notify, debug . SetPanicOnFault"),
    (Kind::Environment, "os . Getenv, os . LookupEnv, os . Environ, os . Setenv, os . Args, syscall . Getenv"),
    (Kind::Processes, "import:os/exec, import:syscall, os . StartProcess, os . FindProcess"),
    (Kind::Network, "import:net"),
    (
        Kind::Files,
        "os . Open*, os . ReadFile, os . WriteFile, os . Create*, os . Remove*, import:io/ioutil, import:embed",
    ),
    (Kind::Computed, "import:."),
];

fn imports(found: &mut Imports, words: &[Word]) {
    let words: Vec<&Word> = words.iter().filter(|word| **word != Word::End).collect();
    let mut at = 0;
    while let Some(offset) = words[at..].iter().position(|word| word.name() == Some("import")) {
        at += offset + 1;
        let is_list = words.get(at).is_some_and(|word| word.is('('));
        let mut own: Option<String> = None;
        at += usize::from(is_list);
        while let Some(word) = words.get(at) {
            match word {
                Word::Text(module) => {
                    let last = module.rsplit('/').next().unwrap_or_default().to_owned();
                    found.modules.push(module.clone());
                    if let Some(own) = own.take() {
                        found.aliases.insert(own, last.clone());
                    }
                    found.bound.insert(last, module.clone());
                    if !is_list {
                        break;
                    }
                }
                Word::Name(name) => own = Some(name.clone()),
                // An import without a name in front stands for itfound.
                Word::Mark('.') => found.modules.push(".".to_owned()),
                Word::Mark(';') => {}
                _ => break,
            }
            at += 1;
        }
    }
}
