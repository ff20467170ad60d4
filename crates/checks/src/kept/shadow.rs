//! Modules of a tree that shadow those that Python's test runners import: [`shadows`].
//!
//! Python looks for modules in the folder that a command runs in before it looks in its own. A file
//! `difflib.py` there is loaded by `unittest` instead of the module of the standard library.

/// Returns true if a file of the tree shadows a module of the standard library, by its path: a
/// module, or the `__init__` of a package, at the root or in `src`. Modules inside of a package
/// have qualified names, and shadow nothing.
pub(super) fn shadows(path: &str) -> bool {
    let path = path.strip_prefix("src/").unwrap_or(path);
    let (module, file) = path.split_once('/').unwrap_or(("", path));
    let (stem, ending) = file.split_once('.').unwrap_or((file, ""));
    let is_loaded = matches!(ending.rsplit('.').next(), Some("py" | "pyc" | "so"));
    let module = match (module, stem) {
        ("", module) | (module, "__init__") => module,
        _ => return false,
    };
    is_loaded && STANDARD.contains(&module)
}

/// The modules of the standard library, without those that no runner needs.
const STANDARD: [&str; 205] = [
    "__future__", "abc", "aifc", "annotationlib", "argparse", "array", "ast", "asynchat",
    "asyncio", "asyncore", "atexit", "audioop", "base64", "bdb", "binascii", "bisect", "builtins",
    "bz2", "cProfile", "calendar", "cgi", "cgitb", "chunk", "cmath", "cmd", "code", "codecs",
    "codeop", "collections", "colorsys", "compileall", "compression", "concurrent", "configparser",
    "contextlib", "contextvars", "copy", "copyreg", "crypt", "csv", "ctypes", "curses",
    "dataclasses", "datetime", "dbm", "decimal", "difflib", "dis", "distutils", "doctest", "email",
    "encodings", "ensurepip", "enum", "errno", "faulthandler", "fcntl", "filecmp", "fileinput",
    "fnmatch", "fractions", "ftplib", "functools", "gc", "genericpath", "getopt", "getpass",
    "gettext", "glob", "graphlib", "grp", "gzip", "hashlib", "heapq", "hmac", "html", "http",
    "imaplib", "imghdr", "imp", "importlib", "inspect", "io", "ipaddress", "itertools", "json",
    "keyword", "linecache", "locale", "logging", "lzma", "mailbox", "mailcap", "marshal", "math",
    "mimetypes", "mmap", "modulefinder", "multiprocessing", "netrc", "nntplib", "ntpath",
    "nturl2path", "numbers", "opcode", "operator", "optparse", "os", "pathlib", "pdb", "pickle",
    "pickletools", "pipes", "pkgutil", "platform", "plistlib", "poplib", "posix", "posixpath",
    "pprint", "profile", "pstats", "pty", "pwd", "py_compile", "pyclbr", "pydoc", "pydoc_data",
    "pyexpat", "queue", "quopri", "random", "re", "readline", "reprlib", "resource", "rlcompleter",
    "runpy", "sched", "secrets", "select", "selectors", "shelve", "shlex", "shutil", "signal",
    "site", "smtpd", "smtplib", "sndhdr", "socket", "socketserver", "sqlite3", "sre_compile",
    "sre_constants", "sre_parse", "ssl", "stat", "statistics", "string", "stringprep", "struct",
    "subprocess", "sunau", "symtable", "sys", "sysconfig", "syslog", "tabnanny", "tarfile",
    "telnetlib", "tempfile", "termios", "textwrap", "threading", "time", "timeit", "token",
    "tokenize", "tomllib", "trace", "traceback", "tracemalloc", "tty", "types", "typing",
    "unicodedata", "unittest", "urllib", "uu", "uuid", "venv", "warnings", "wave", "weakref",
    "webbrowser", "wsgiref", "xdrlib", "xml", "xmlrpc", "zipapp", "zipfile", "zipimport", "zlib",
    "zoneinfo",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_at_import_roots_shadow_those_of_the_standard_library() {
        for path in [
            "difflib.py",
            "src/pprint.py",
            "json/__init__.py",
            "src/logging/__init__.py",
            "difflib.pyc",
            "difflib.cpython-311-x86_64-linux-gnu.so",
        ] {
            assert!(shadows(path), "{path}");
        }
        for path in [
            "calc.py", "shop/logging.py", "shop/json/__init__.py", "src/shop/types.py",
            "json/data.py", "difflib.txt", "difflib", "logging.py.orig",
        ] {
            assert!(!shadows(path), "{path}");
        }
    }
}
