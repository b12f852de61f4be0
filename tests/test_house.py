"""The rules of the house that no linter knows, held over the source itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "jarvis_ops"
MODULES = sorted(PACKAGE.rglob("*.py"))

MODULE_LINES = 300
FUNCTION_LINES = 50
# Functions that may be longer, as `path:name`, each with the measured gain that makes up for it.
LONG_FUNCTIONS: dict[str, str] = {
    "jarvis_ops/operations/screen.py:loop": "reads and judges in one: a call a line would cost a third of the speed",
}

VAGUE_NAMES = {"util", "utils", "helper", "helpers", "common", "misc"}

WRITER = PACKAGE / "stores" / "disk.py"
# By module, what changes a file system. Everything of shutil and tempfile that can write is on the list.
WRITING_CALLS = {
    "os": {
        "chmod",
        "chown",
        "fchmod",
        "fchown",
        "ftruncate",
        "lchown",
        "link",
        "makedirs",
        "mkdir",
        "mkfifo",
        "mknod",
        "pwrite",
        "remove",
        "removedirs",
        "rename",
        "renames",
        "replace",
        "rmdir",
        "setxattr",
        "symlink",
        "truncate",
        "unlink",
        "utime",
    },
    "shutil": {
        "chown",
        "copy",
        "copy2",
        "copyfile",
        "copyfileobj",
        "copymode",
        "copystat",
        "copytree",
        "make_archive",
        "move",
        "rmtree",
    },
    "tempfile": {
        "NamedTemporaryFile",
        "SpooledTemporaryFile",
        "TemporaryDirectory",
        "TemporaryFile",
        "mkdtemp",
        "mkstemp",
    },
}
# Methods that only paths, or writers of files, have.
WRITING_METHODS = {
    "hardlink_to",
    "mkdir",
    "rename",
    "rmdir",
    "symlink_to",
    "touch",
    "unlink",
    "write_bytes",
    "write_text",
    "write_to_textfile",
}
# What stores/disk.py offers is handed around under this name.
SEAM = "disk"
WRITING_FLAGS = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_APPEND", "O_TRUNC"}
OPENERS = {"open", "fdopen"}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def attributes(nodes: list[ast.expr]) -> set[str]:
    return {inner.attr for node in nodes for inner in ast.walk(node) if isinstance(inner, ast.Attribute)}


def opens_for_writing(call: ast.Call, modules: set[str]) -> bool:
    """Whether a call of something named `open` may write; a mode that cannot be read here counts as writing."""
    if "devnull" in attributes(call.args[:1]):
        return False
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if isinstance(owner, ast.Name) and owner.id == "os" and called(call) == "open":
        return bool(attributes(call.args[1:]) & WRITING_FLAGS)
    is_path = owner is not None and not (isinstance(owner, ast.Name) and owner.id in modules)
    place = 0 if is_path else 1
    modes = [keyword.value for keyword in call.keywords if keyword.arg == "mode"] + call.args[place : place + 1]
    return any(not mode_reads(mode, sure=not is_path) for mode in modes)


def mode_reads(mode: ast.expr, *, sure: bool) -> bool:
    """Whether a mode opens for reading; `sure` says that the expression is a mode and no other argument."""
    if isinstance(mode, ast.Constant) and isinstance(mode.value, str):
        return not set(mode.value) & set("wax+")
    return not sure


def called(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def writes(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of whatever in a module can change a file."""
    modules = {"os"} | {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for name in node.names:
                if name.name in WRITING_CALLS.get(node.module or "", set()) | WRITING_METHODS:
                    yield node.lineno, name.name
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in WRITING_CALLS.get(node.value.id, set()):
                yield node.lineno, f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Call) and called(node) in OPENERS and opens_for_writing(node, modules):
            yield node.lineno, called(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in WRITING_METHODS:
            if isinstance(node.func.value, ast.Name) and node.func.value.id == SEAM:
                continue
            yield node.lineno, node.func.attr


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_stays_below_its_ceiling(path: Path) -> None:
    assert len(path.read_bytes().splitlines()) <= MODULE_LINES


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_function_stays_below_its_ceiling(path: Path) -> None:
    long = {
        f"{name_of(path)}:{function.name}"
        for function in functions(ast.parse(path.read_bytes()))
        if (function.end_lineno or function.lineno) - function.lineno + 1 > FUNCTION_LINES
    }
    assert long <= set(LONG_FUNCTIONS)


def test_every_exception_is_still_needed() -> None:
    for entry in LONG_FUNCTIONS:
        path, name = entry.split(":")
        lengths = [
            (function.end_lineno or function.lineno) - function.lineno + 1
            for function in functions(ast.parse((ROOT / path).read_bytes()))
            if function.name == name
        ]
        assert max(lengths, default=0) > FUNCTION_LINES, entry


@pytest.mark.parametrize("path", [path for path in MODULES if path.name == "__init__.py"], ids=name_of)
def test_init_is_empty(path: Path) -> None:
    assert path.read_bytes() == b""


def test_every_folder_with_modules_is_a_package() -> None:
    folders = {path.parent for path in MODULES}
    assert all((folder / "__init__.py").exists() for folder in folders)
    assert (PACKAGE / "py.typed").exists()


@pytest.mark.parametrize("folder", ["jarvis_ops", "tests"])
def test_no_name_says_nothing(folder: str) -> None:
    vague = [
        name_of(path)
        for path in (ROOT / folder).rglob("*.py")
        if VAGUE_NAMES & {*path.relative_to(ROOT).parts[:-1], *path.stem.split("_")}
    ]
    assert not vague


@pytest.mark.parametrize("path", [path for path in MODULES if path != WRITER], ids=name_of)
def test_only_one_module_changes_files(path: Path) -> None:
    assert list(writes(ast.parse(path.read_bytes()))) == []


def test_the_writer_is_seen_to_write() -> None:
    assert {name for _, name in writes(ast.parse(WRITER.read_bytes()))} >= {"os.replace", "os.unlink", "os.mkdir"}


@pytest.mark.parametrize(
    "code",
    [
        "open(p, 'w')",
        "open(p, mode='ab')",
        "open(p, 'r+b')",
        "open(p, mode)",
        "import io\nio.open(p, 'x')",
        "import gzip\ngzip.open(p, 'wb')",
        "Path(p).open('w')",
        "path.write_text('')",
        "path.unlink()",
        "os.open(p, os.O_RDWR | os.O_CLOEXEC)",
        "os.fdopen(fd, 'w')",
        "os.rename(a, b)",
        "move = os.replace",
        "from os import replace",
        "from shutil import copyfile",
        "shutil.move(a, b)",
        "tempfile.mkstemp()",
        "write_to_textfile.x(1); registry.write_to_textfile(p)",
    ],
)
def test_the_scan_sees_a_write(code: str) -> None:
    assert list(writes(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "open(p)",
        "open(p, 'rb')",
        "open(p, 'rb', buffering=1 << 20)",
        "Path(p).open('rb')",
        "store.open(conversation)",
        "text.replace('a', 'b')",
        "os.open(p, os.O_RDONLY | os.O_NOFOLLOW)",
        "os.open(os.devnull, os.O_WRONLY)",
        "open(os.devnull, 'w')",
        "os.fdopen(fd, 'rb')",
        "shutil.get_terminal_size()",
    ],
)
def test_the_scan_lets_reading_pass(code: str) -> None:
    assert not list(writes(ast.parse(code)))
