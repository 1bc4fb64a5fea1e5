//! Types that a file declares: what its values are made of. Read from a syntax tree; a file that does not parse
//! declares none.

use tree_sitter::{Node, Tree};

use super::{syntax, text};
use crate::language::Language;

/// A type that a file declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Declared {
    /// An enumeration: its members, as the file names them.
    Members(Vec<String>),
    /// Plain objects with these fields, written as parameters in braces.
    Fields(String),
    /// A class: what its constructor takes, as parameters in parentheses.
    Class(String),
    /// Another name of this type.
    Alias(String),
}

/// Classes above a class that are followed.
const DEEPEST: usize = 4;

/// The types of a file.
#[derive(Debug)]
pub struct Declarations {
    language: Language,
    text: String,
    tree: Option<Tree>,
}

impl Declarations {
    /// Reads a file.
    pub fn of_file(language: Language, file: &str) -> Self {
        let text = text::decode_str(file).0.to_string();
        Self { language, tree: syntax::tree(language, &text), text }
    }

    /// The type of this name that the file declares at its top level.
    pub fn of(&self, name: &str) -> Option<Declared> {
        let file = File { text: &self.text, root: self.tree.as_ref()?.root_node() };
        if self.language == Language::Python { file.python(name, 0) } else { file.braces(name, 0) }
    }

    /// The names of the classes at the top level of the file.
    pub fn classes(&self) -> Vec<&str> {
        let Some(tree) = &self.tree else { return Vec::new() };
        let name = |node: Node| {
            let inside =
                ["definition", "declaration", "value"].iter().find_map(|field| node.child_by_field_name(field));
            let class = inside.unwrap_or(node);
            let name = class.child_by_field_name("name").filter(|_| CLASSES.contains(&class.kind()))?;
            self.text.get(name.byte_range())
        };
        File::children(tree.root_node()).into_iter().filter_map(name).collect()
    }
}

/// Nodes of the grammars that are classes.
const CLASSES: &[&str] = &["class_definition", "class_declaration", "abstract_class_declaration", "class"];

struct File<'a> {
    text: &'a str,
    root: Node<'a>,
}

impl<'a> File<'a> {
    fn of(&self, node: Node) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    fn children(node: Node<'a>) -> Vec<Node<'a>> {
        let mut cursor = node.walk();
        node.named_children(&mut cursor).collect()
    }

    fn field(&self, node: Node<'a>, name: &str) -> Option<&'a str> {
        Some(self.of(node.child_by_field_name(name)?))
    }

    fn python(&self, name: &str, depth: usize) -> Option<Declared> {
        for node in Self::children(self.root) {
            let class = match node.kind() {
                "decorated_definition" => node.child_by_field_name("definition")?,
                _ => node,
            };
            if class.kind() == "class_definition" && self.field(class, "name") == Some(name) {
                let decorators = self.text.get(node.start_byte()..class.start_byte()).unwrap_or_default();
                return self.python_class(class, decorators, name, depth);
            }
            let assignment = Self::children(node).into_iter().find(|child| child.kind() == "assignment");
            if let Some(assignment) = assignment.filter(|_| node.kind() == "expression_statement")
                && self.field(assignment, "left") == Some(name)
            {
                return self.python_alias(assignment.child_by_field_name("right")?);
            }
        }
        None
    }

    fn python_alias(&self, right: Node<'a>) -> Option<Declared> {
        if right.kind() != "call" {
            let is_type = ["identifier", "subscript", "attribute", "binary_operator", "none"].contains(&right.kind());
            return is_type.then(|| Declared::Alias(self.of(right).to_owned()));
        }
        let is_new = self.field(right, "function")?.rsplit('.').next() == Some("NewType");
        let of = Self::children(right.child_by_field_name("arguments")?).into_iter().nth(1)?;
        is_new.then(|| Declared::Alias(self.of(of).to_owned()))
    }

    fn python_class(&self, class: Node<'a>, decorators: &str, name: &str, depth: usize) -> Option<Declared> {
        let bases: Vec<&str> = class
            .child_by_field_name("superclasses")
            .map(|all| Self::children(all).into_iter().map(|base| self.of(base)).collect())
            .unwrap_or_default();
        let named = |base: &str| base.split('[').next().and_then(|name| name.rsplit('.').next()).map(str::to_owned);
        let is = |names: &[&str]| bases.iter().any(|base| named(base).is_some_and(|name| names.contains(&&*name)));
        // It is no class of objects.
        if is(&["Protocol"]) {
            return None;
        }
        let body = Self::children(class.child_by_field_name("body")?);
        let assignments = || {
            let each = body.iter().filter(|node| node.kind() == "expression_statement");
            each.filter_map(|node| Self::children(*node).into_iter().find(|child| child.kind() == "assignment"))
        };
        if is(&["Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"]) {
            let members = assignments().filter_map(|one| self.field(one, "left")).filter(|left| !left.starts_with('_'));
            return Some(Declared::Members(members.map(|member| format!("{name}.{member}")).collect()));
        }
        let above = |kind: fn(Declared) -> Option<String>| {
            let each = bases.iter().filter(|_| depth < DEEPEST);
            each.filter_map(|base| self.python(base, depth + 1)).find_map(kind)
        };
        let fields = || {
            let each = assignments().filter_map(|one| {
                let (name, kind) = (self.field(one, "left")?, self.field(one, "type")?);
                let is_set = !kind.contains("ClassVar") && !kind.ends_with("KW_ONLY");
                let default = self.field(one, "right").filter(|_| is_set);
                if default.is_some_and(|default| default.replace(' ', "").contains("init=False")) {
                    return None;
                }
                is_set.then(|| format!("{name}: {kind}{}", default.map(|d| format!(" = {d}")).unwrap_or_default()))
            });
            each.collect::<Vec<_>>().join(", ")
        };
        let joined = |above: Option<String>, own: String| {
            let above =
                above.and_then(|text| Some(text.get(1..text.len().checked_sub(1)?)?.to_owned())).unwrap_or_default();
            [above, own].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ")
        };
        let of_fields = |declared| if let Declared::Fields(text) = declared { Some(text) } else { None };
        let of_class = |declared| if let Declared::Class(text) = declared { Some(text) } else { None };
        let fields_above = above(of_fields);
        if is(&["TypedDict"]) || fields_above.is_some() {
            return Some(Declared::Fields(format!("{{{}}}", joined(fields_above, fields()))));
        }
        let own = body
            .iter()
            .find(|node| node.kind() == "function_definition" && self.field(**node, "name") == Some("__init__"));
        if let Some(own) = own {
            return Some(Declared::Class(self.field(*own, "parameters")?.to_owned()));
        }
        let is_made_of_fields = is(&["NamedTuple", "BaseModel"])
            || ["dataclass", "define", "attr.s", "attrs", "frozen"].iter().any(|word| decorators.contains(word));
        if is_made_of_fields {
            return Some(Declared::Class(format!("({})", joined(above(of_class), fields()))));
        }
        Some(Declared::Class(above(of_class).unwrap_or_else(|| "()".to_owned())))
    }

    fn braces(&self, name: &str, depth: usize) -> Option<Declared> {
        for node in Self::children(self.root) {
            let node = match node.kind() {
                "export_statement" => {
                    match node.child_by_field_name("declaration").or(node.child_by_field_name("value")) {
                        Some(declaration) => declaration,
                        None => continue,
                    }
                }
                _ => node,
            };
            if self.field(node, "name") != Some(name) {
                continue;
            }
            return match node.kind() {
                kind if CLASSES.contains(&kind) => self.class(node, depth),
                "interface_declaration" => self.fields(node.child_by_field_name("body")?),
                "type_alias_declaration" => {
                    let value = node.child_by_field_name("value")?;
                    match value.kind() {
                        "object_type" => self.fields(value),
                        _ => Some(Declared::Alias(self.of(value).to_owned())),
                    }
                }
                "enum_declaration" => {
                    let each = Self::children(node.child_by_field_name("body")?).into_iter();
                    let member = each.map(|one| self.field(one, "name").unwrap_or(self.of(one)));
                    Some(Declared::Members(member.map(|member| format!("{name}.{member}")).collect()))
                }
                _ => None,
            };
        }
        None
    }

    fn fields(&self, body: Node<'a>) -> Option<Declared> {
        let each = Self::children(body);
        // A value with methods is no plain object.
        if each.iter().any(|one| one.kind() != "property_signature" && one.kind() != "comment") {
            return None;
        }
        let each = each.iter().filter(|one| one.kind() == "property_signature").filter_map(|one| {
            let (name, kind) = (self.field(*one, "name")?, self.field(*one, "type").unwrap_or_default());
            let mark = if self.of(*one)[name.len().min(self.of(*one).len())..].trim_start().starts_with('?') {
                "?"
            } else {
                ""
            };
            Some(format!("{name}{mark}{kind}"))
        });
        Some(Declared::Fields(format!("{{{}}}", each.collect::<Vec<_>>().join(", "))))
    }

    fn class(&self, class: Node<'a>, depth: usize) -> Option<Declared> {
        let body = Self::children(class.child_by_field_name("body")?);
        let own = body
            .iter()
            .find(|one| one.kind() == "method_definition" && self.field(**one, "name") == Some("constructor"));
        if let Some(own) = own {
            return Some(Declared::Class(self.field(*own, "parameters")?.to_owned()));
        }
        let heritage = Self::children(class).into_iter().find(|child| child.kind() == "class_heritage");
        let above = heritage.map(|node| self.of(node).trim_start_matches("extends").trim().to_owned());
        let above = above.filter(|_| depth < DEEPEST).and_then(|text| {
            let name = text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').next()?.to_owned();
            self.braces(&name, depth + 1)
        });
        Some(above.filter(|above| matches!(above, Declared::Class(_))).unwrap_or(Declared::Class("()".to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_say_what_their_objects_are_made_of() {
        let text = "@dataclass(frozen=True)\nclass A:\n    a: int\n    n: ClassVar[int] = 1\n    b: list[int] = field(default_factory=list)\n\n@dataclass\nclass B(A):\n    c: str = ''\n\nclass C:\n    pass\n\nclass D(C):\n    def __init__(self, x, /, y: int = 2):\n        pass\n\nclass E(D):\n    pass\n\nclass F(str, enum.Enum):\n    _ignore_ = []\n    ONE = 'a'\n    TWO = 'b'\n    def f(self):\n        pass\n\nUser = NewType('User', int)\nPairs = list[tuple[int, int]]\n";
        let declared = Declarations::of_file(Language::Python, text);
        let of = |name| declared.of(name);
        let class = |text: &str| Some(Declared::Class(text.to_owned()));
        assert_eq!(of("A"), class("(a: int, b: list[int] = field(default_factory=list))"));
        assert_eq!(of("B"), class("(a: int, b: list[int] = field(default_factory=list), c: str = '')"));
        assert_eq!((of("C"), of("E")), (class("()"), class("(self, x, /, y: int = 2)")));
        assert_eq!(of("F"), Some(Declared::Members(vec!["F.ONE".to_owned(), "F.TWO".to_owned()])));
        assert_eq!(of("User"), Some(Declared::Alias("int".to_owned())));
        assert_eq!(of("Pairs"), Some(Declared::Alias("list[tuple[int, int]]".to_owned())));
        assert_eq!((of("Z"), of("")), (None, None));
        let text = "class Clock(Protocol[T]):\n    def now(self) -> float: ...\n\nclass Own(Clock):\n    pass\n";
        let declared = Declarations::of_file(Language::Python, text);
        assert_eq!((declared.of("Clock"), declared.of("Own")), (None, class("()")));
        let text = "class A {\n  #n = 0;\n  constructor(a, b = 1) { this.a = a; }\n}\nexport class B extends A {}\nexport default class C {}\n";
        let declared = Declarations::of_file(Language::JavaScript, text);
        let of = |name| declared.of(name);
        assert_eq!((of("A"), of("B"), of("C")), (class("(a, b = 1)"), class("(a, b = 1)"), class("()")));
        let text = "interface A { a: number; f(): void }\ninterface B { readonly a: number, b?: string }\n";
        let declared = Declarations::of_file(Language::TypeScript, text);
        let of = |name| declared.of(name);
        assert_eq!((of("A"), of("B")), (None, Some(Declared::Fields("{a: number, b?: string}".to_owned()))));
    }
}
