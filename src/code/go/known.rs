//! Names that Go has without a definition.

use crate::code::known::Known;

pub(super) const KNOWN: Known = Known {
    builtins: &[
        "any", "append", "bool", "byte", "cap", "case", "chan", "clear", "close", "comparable", "complex",
        "complex128", "complex64", "const", "copy", "defer", "delete", "error", "float32", "float64", "for", "func",
        "go", "if", "imag", "import", "int", "int16", "int32", "int64", "int8", "interface", "len", "make", "map",
        "max", "min", "new", "package", "panic", "print", "println", "range", "real", "recover", "return", "rune",
        "select", "string", "struct", "switch", "type", "uint", "uint16", "uint32", "uint64", "uint8", "uintptr",
        "var",
    ],
    library: &[
        "bufio", "bytes", "cmp", "context", "errors", "fmt", "hash/fnv", "io", "log", "maps", "math", "math/big",
        "math/bits", "math/cmplx", "math/rand", "net/http", "net/url", "os", "path/filepath", "reflect", "regexp",
        "slices", "sort", "strconv", "strings", "sync", "sync/atomic", "time", "unicode", "unicode/utf8",
        "encoding/json", "encoding/base64", "encoding/binary", "encoding/csv", "encoding/hex", "crypto/md5",
        "crypto/sha1", "crypto/sha256", "container/heap", "container/list", "html", "io/fs", "os/exec",
        "text/tabwriter",
    ],
    given: &[],
    twins: &[],
    separator: "/",
    import: |path| format!("import \"{path}\""),
};
