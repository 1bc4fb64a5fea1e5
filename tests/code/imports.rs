//! Where the imports of an answer stand among those of the file.

use bass_tui::language::Language;

use crate::edits::taken;

/// Takes answers of one line whose imports are `new` into a file of these imports.
fn merged(language: Language, own: &str, new: &str) -> String {
    let given = |line: &str| -> Option<String> {
        // The last name in front of a path in quotes.
        let front = line.split(['"', '\'']).next()?.trim_end_matches("require(").trim_end().trim_end_matches(" from");
        let mut names = front.split(|c: char| !c.is_alphanumeric() && c != '_');
        names.rfind(|name| !name.is_empty()).map(str::to_owned)
    };
    let uses: Vec<String> = new.lines().filter_map(given).collect();
    let (stub, full) = match language {
        Language::Python => ("def f():\n    pass\n", format!("def f():\n    return [{}]\n", uses.join(", "))),
        Language::Rust => {
            ("fn f() {\n    todo!()\n}\n", format!("fn f() {{\n    let _ = [{}];\n}}\n", uses.join(", ")))
        }
        _ => ("export function f() {\n}\n", format!("export function f() {{\n  return [{}];\n}}\n", uses.join(", "))),
    };
    let space = if language == Language::Python { "\n\n" } else { "\n" };
    let program = taken(&format!("{own}{space}{stub}"), language, "f", &format!("{new}{space}{full}"));
    program.split(stub.lines().next().unwrap()).next().unwrap().trim_end().to_owned() + "\n"
}

#[test]
fn imports_of_python_stand_in_their_group() {
    let groups = "from __future__ import annotations\n\nimport os\nimport sys\nfrom typing import (\n    Any,\n    List,\n)\n\nimport requests\n\nfrom app.models import User\nfrom . import core\n";
    let cases = [
        // In the order of the group.
        (groups, "import re\n", groups.replace("import os\n", "import os\nimport re\n")),
        (
            groups,
            "from collections import deque\n",
            groups.replace("import sys\n", "import sys\nfrom collections import deque\n"),
        ),
        (groups, "import numpy as np\n", groups.replace("import requests\n", "import numpy as np\nimport requests\n")),
        (
            groups,
            "from zlib import crc32\n",
            groups.replace("    List,\n)\n", "    List,\n)\nfrom zlib import crc32\n"),
        ),
        // The project's own stand together.
        (
            groups,
            "from app.views import shown\n",
            groups.replace("import User\n", "import User\nfrom app.views import shown\n"),
        ),
        (groups, "from .core import top\n", groups.to_owned() + "from .core import top\n"),
        // A group that the file lacks.
        ("import requests\n", "import re\n", "import re\n\nimport requests\n".to_owned()),
        ("import os\n", "import numpy\n", "import os\n\nimport numpy\n".to_owned()),
        ("from .core import top\n", "import re\n", "import re\n\nfrom .core import top\n".to_owned()),
        (
            "from __future__ import annotations\n",
            "import re\n",
            "from __future__ import annotations\n\nimport re\n".to_owned(),
        ),
        // A comment above a group stays there.
        ("# library\nimport os\n", "import ast\n", "# library\nimport ast\nimport os\n".to_owned()),
        ("import os\n# (all\nimport sys\n", "import re\n", "import os\nimport re\n# (all\nimport sys\n".to_owned()),
        // Groups that no blank line parts.
        ("import os\nimport requests\n", "import re\n", "import os\nimport re\nimport requests\n".to_owned()),
        (
            "import os\nfrom .core import top\n",
            "import numpy\n",
            "import os\nimport numpy\nfrom .core import top\n".to_owned(),
        ),
        (
            "from abc import ABC\nimport os\nimport sys\n",
            "import re\n",
            "from abc import ABC\nimport os\nimport re\nimport sys\n".to_owned(),
        ),
        // Other orders: by module alone, and none.
        (
            "from collections import deque\nimport os\n",
            "import re\n",
            "from collections import deque\nimport os\nimport re\n".to_owned(),
        ),
        (
            "import sys\nimport os\nfrom math import pi\n",
            "import re\n",
            "import sys\nimport os\nimport re\nfrom math import pi\n".to_owned(),
        ),
    ];
    let lists = [
        ("Any, List", "Dict", "Any, Dict, List"),
        ("ANY, Text, cast", "Dict", "ANY, Dict, Text, cast"),
        ("a, B, c", "d", "a, B, c, d"),
        ("a, C", "b", "a, b, C"),
        ("List, Any", "Dict", "List, Any, Dict"),
    ];
    for (own, new, wanted) in lists {
        let [own, new, wanted] = [own, new, wanted].map(|list| format!("from m import {list}\n"));
        assert_eq!(merged(Language::Python, &own, &new), wanted);
    }
    // A list with a line for each name.
    let list = "from m import (\n    Any,\n    List\n)\n";
    let unsorted = "from m import (\n    List,\n    Any,\n)\n";
    let wanted = unsorted.replace("    Any,\n", "    Any,\n    Dict,\n");
    assert_eq!(merged(Language::Python, unsorted, "from m import Dict\n"), wanted);
    let wanted = "from m import (\n    Any,\n    Dict,\n    List,\n)\n";
    assert_eq!(merged(Language::Python, list, "from m import Dict\n"), wanted);
    // A name that is there for some alone is imported for all.
    let some = "import os\n\nif os.name:\n    from m import One\n\nimport top\n";
    let wanted = some.to_owned() + "from m import Two\n";
    assert_eq!(merged(Language::Python, some, "from m import Two\n"), wanted);
    for (own, new, wanted) in cases {
        assert_eq!(merged(Language::Python, own, new), wanted, "{new}");
    }
    // Several of a file that has none.
    assert_eq!(merged(Language::Python, "", "import numpy\nimport re\n").trim_start(), "import re\n\nimport numpy\n");
}

#[test]
fn packages_of_javascript_stand_in_front_of_the_projects_own() {
    let own = "import b from 'b';\nimport {\n  c,\n} from \"./c\";\n\nimport './style.css';\n";
    let wanted = own.replace("'b';\n", "'b';\nimport a from 'a';\n");
    assert_eq!(merged(Language::TypeScript, own, "import a from 'a';\n"), wanted);
    let wanted = own.replace("from \"./c\";\n", "from \"./c\";\nimport d from './d';\n");
    assert_eq!(merged(Language::TypeScript, own, "import d from './d';\n"), wanted);
    let ts = own;
    let own = "const c = require('./c');\n";
    let wanted = format!("const fs = require('fs');\n{own}");
    assert_eq!(merged(Language::JavaScript, own, "const fs = require('fs');\n"), wanted);
    // A list with a line for each name.
    let wanted = "import b from 'b';\nimport {\n  c,\n  d,\n} from \"./c\";\n\nimport './style.css';\n";
    assert_eq!(merged(Language::TypeScript, ts, "import { d } from './c';\n"), wanted);
    // A type joins the list of types.
    let own = "import type { A } from './a';\n";
    let wanted = "import type { A, B } from './a';\n";
    assert_eq!(merged(Language::TypeScript, own, "import { type B } from './a';\n"), wanted);
}

#[test]
fn uses_of_rust_stand_in_their_group() {
    let own = "use std::fmt;\nuse std::{\n    io,\n    path::Path,\n};\n\nuse serde::Serialize;\n\n#[cfg(feature = \"a\")]\nuse crate::a::Alpha;\nuse super::Beta;\n";
    let cases = [
        (
            "use std::collections::HashMap;\n",
            own.replace("use std::fmt", "use std::collections::HashMap;\nuse std::fmt"),
        ),
        ("use regex::Regex;\n", own.replace("use serde", "use regex::Regex;\nuse serde")),
        ("use crate::Zeta;\n", own.replace("#[cfg", "use crate::Zeta;\n#[cfg")),
    ];
    for (new, wanted) in cases {
        assert_eq!(merged(Language::Rust, own, new), wanted, "{new}");
    }
    let list = "use std::{\n    fmt,\n    io,\n};\n";
    let wanted = "use std::{\n    cmp,\n    fmt,\n    io,\n};\n";
    assert_eq!(merged(Language::Rust, list, "use std::cmp;\n"), wanted);
    // Of one block all are in order, of whatever group.
    let own = "use crate::a::Alpha;\nuse serde::Serialize;\nuse std::fmt;\n";
    let wanted = own.replace("use std", "use std::collections::HashMap;\nuse std");
    assert_eq!(merged(Language::Rust, own, "use std::collections::HashMap;\n"), wanted);
}
