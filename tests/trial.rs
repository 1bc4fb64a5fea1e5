//! temp
use std::sync::Arc;
use bass_tui::language::Language;
use bass_tui::trial::*;
#[test]
fn one() {
    let t = std::time::Instant::now();
    let r = Runner::probe();
    eprintln!("{:?} {:?}", r.protection(), t.elapsed());
    for p in ["def f(x):\n    return x*2\n", "def f(x):\n    return x+2\n", "import os; os._exit(0)", "open('/etc/passwd')", "def f(x):\n while 1: print('x'*1000)"] {
        let t = Trial { language: Language::Python, program: p.into(), entry_point: Some("f".into()),
            tests: Tests::Doctest { source: "def f(x):\n  '''\n  >>> f(3)\n  6\n  '''".into() }, limits: Limits::default() };
        let v = r.run(&t, &Arc::default());
        eprintln!("{v:?}");
    }
}
