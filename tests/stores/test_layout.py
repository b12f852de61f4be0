"""What is listed as a conversation, under which id, and what is odd, for every layout of a store."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from jarvis_ops.model.conversation import Conversation
from tests.stores.disk_state import ids, listed, oddities, put

PACKAGE = Path(__file__).parents[2] / "jarvis_ops"
LISTING = {"listdir", "scandir", "walk", "fwalk", "glob", "iglob", "iterdir", "rglob"}
ONE = "11111111-0000-4000-8000-000000000001"
TWO = "22222222-0000-4000-8000-000000000002"
LINE = b"{}\n"


def only(path: Path) -> Conversation:
    (found,) = listed(path).conversations
    return found


def listing_calls(source: str) -> set[str]:
    """What in a module can list a directory. A function of the module's own may well be called `walk`."""
    found = set()
    tree = ast.parse(source)
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names} & {"glob"}
        elif isinstance(node, ast.ImportFrom):
            found |= {each.name for each in node.names} & LISTING | {node.module or ""} & {"glob"}
        elif isinstance(node, ast.Attribute) and node.attr in LISTING:
            is_own = isinstance(node.value, ast.Name) and node.value.id == "self" and node.attr in own
            found |= set() if is_own else {node.attr}
        elif isinstance(node, ast.Name) and node.id in LISTING - own:
            found.add(node.id)
    return found


def test_one_module_lists_directories() -> None:
    listing = {
        str(path.relative_to(PACKAGE)): calls
        for path in PACKAGE.rglob("*.py")
        if (calls := listing_calls(path.read_text("utf-8")))
    }
    assert listing == {os.path.join("stores", "jsonl", "layout.py"): {"scandir"}}


@pytest.mark.parametrize(
    "source",
    ["import os\nos.listdir('.')", "from os import walk", "import glob", "from glob import iglob", "p.rglob(1)"],
)
def test_the_search_for_listing_calls_finds_them(source: str) -> None:
    assert listing_calls(source)


def test_flat_files_of_one_conversation(tmp_path: Path) -> None:
    put(tmp_path, {"a.jsonl": LINE, "a.meta.json": b"{}", "a.lock": b""})
    put(tmp_path, {"a.segments/000001.jsonl": LINE, "a.segments/000000.jsonl": LINE})
    found = only(tmp_path)
    assert (found.id, found.session_id, found.parent, found.folder, found.layout) == ("a", "a", None, "", "flat")
    assert [part.file for part in found.parts] == ["a.segments/000000.jsonl", "a.segments/000001.jsonl", "a.jsonl"]
    assert [part.number for part in found.parts] == [0, 1, None]
    assert found.live is found.parts[-1]
    assert found.metadata is not None
    assert found.metadata.file == "a.meta.json"
    assert found.lock is not None
    assert found.segments is not None
    assert found.segments.path == os.path.join(tmp_path, "a.segments")


def test_what_makes_a_flat_conversation(tmp_path: Path) -> None:
    put(tmp_path, {"live.jsonl": b"", "sealed.segments/000007.jsonl": LINE, "named.meta.json": b"{}"})
    put(
        tmp_path,
        {"locked.lock": b"", "empty.segments/": b"", "notes.txt": b"", ".hidden.jsonl": LINE, "other.json": b""},
    )
    put(tmp_path, {".jarvis-ops/x.jsonl": LINE, "sealed.segments/.000008.jsonl": LINE})
    found = {each.id: each for each in listed(tmp_path).conversations}
    assert list(found) == ["live", "named", "sealed"]
    assert found["named"].parts == ()
    assert found["sealed"].live is None
    assert oddities(tmp_path) == []


def test_an_empty_directory_is_an_empty_store(tmp_path: Path) -> None:
    assert listed(tmp_path).conversations == ()
    assert listed(tmp_path).layout == "flat"


def test_leftovers_and_misnamed_segments(tmp_path: Path) -> None:
    names = ["a.jsonl.bak-1", "a.jsonl.12.tmp", "a.jsonl.reset.2026", "a.jsonl.deleted.2026", "b.bak", "c.tmp"]
    put(tmp_path, dict.fromkeys(names, LINE) | {"a.jsonl": LINE, "a.jsonl.lock": b"", "index.json": b"{}"})
    put(tmp_path, {"a.segments/000001.jsonl": LINE, "a.segments/1.jsonl": LINE, "a.segments/0000002.jsonl": LINE})
    inventory = listed(tmp_path)
    assert [each.id for each in inventory.conversations] == ["a"]
    assert [part.number for part in inventory.conversations[0].parts] == [1, None]
    left = {each.file: each.conversation for each in inventory.oddities if each.what == "leftover"}
    assert left == {name: "a" if ".jsonl" in name else None for name in names}
    misnamed = [each.file for each in inventory.oddities if each.what == "segment-name"]
    assert misnamed == ["a.segments/0000002.jsonl", "a.segments/1.jsonl"]


def test_folders_of_logs_one_level_down(tmp_path: Path) -> None:
    put(tmp_path, {"sessions/a.jsonl": LINE, "more/a.jsonl": LINE, "more/a.segments/000001.jsonl": LINE})
    put(tmp_path, {"sessions/deep/b.jsonl": LINE})
    assert ids(tmp_path) == ["more/a", "sessions/a"]
    first, second = listed(tmp_path).conversations
    assert [part.file for part in first.parts] == ["more/a.segments/000001.jsonl", "more/a.jsonl"]
    assert (second.folder, second.session_id) == ("sessions", "a")


def claude_home(root: Path) -> Path:
    slug = "projects/-home-u-app"
    return put(
        root,
        {
            f"{slug}/{ONE}.jsonl": LINE,
            f"{slug}/{ONE}/subagents/agent-a1.jsonl": LINE,
            f"{slug}/{ONE}/subagents/agent-a1.meta.json": b"{}",
            f"{slug}/{ONE}/subagents/journal.jsonl": LINE,
            f"{slug}/{ONE}/subagents/workflows/run1/agent-b2.jsonl": LINE,
            f"{slug}/{ONE}/tool-results/t1.txt": b"saved",
            f"{slug}/{TWO}/subagents/agent-c3.jsonl": LINE,
            f"{slug}/{TWO}/tool-results/t2.tmp": b"saved",
            f"{slug}/agent-old.jsonl": LINE,
            f"{slug}/{ONE}.jsonl.bak": LINE,
            f"{slug}/memory/notes.md": b"",
            f"{slug}/sessions-index.json": b"{}",
            f"{slug}/.session-aliases": b"",
            "projects/-home-u-other/x.jsonl": LINE,
            "history.jsonl": LINE,
            "settings.json": b"{}",
            "sessions/123.json": b"{}",
            "todos/x.jsonl": LINE,
        },
    )


CLAUDE_IDS = [
    f"-home-u-app/{ONE}",
    f"-home-u-app/{ONE}/subagents/agent-a1",
    f"-home-u-app/{ONE}/subagents/workflows/run1/agent-b2",
    f"-home-u-app/{TWO}/subagents/agent-c3",
    "-home-u-app/agent-old",
]


def test_claude_home(tmp_path: Path) -> None:
    inventory = listed(claude_home(tmp_path))
    assert inventory.layout == "projects"
    assert [each.id for each in inventory.conversations] == [*CLAUDE_IDS, "-home-u-other/x"]
    main, agent, deep, orphan, old, _ = inventory.conversations
    assert (main.session_id, main.parent) == (ONE, None)
    assert main.folder == "projects/-home-u-app"
    side = f"projects/-home-u-app/{ONE}"
    names = {f"{side}/subagents/agent-a1.meta.json", f"{side}/subagents/journal.jsonl", f"{side}/tool-results/t1.txt"}
    assert {file.file for file in main.side_files} == names
    assert {each.parent for each in (agent, deep)} == {main.id}
    assert {each.session_id for each in (agent, deep)} == {ONE}
    assert (orphan.session_id, orphan.parent) == (TWO, f"-home-u-app/{TWO}")
    assert (old.session_id, old.parent) == ("", None)
    assert agent.metadata is not None


def test_claude_oddities(tmp_path: Path) -> None:
    slug = "projects/-home-u-app"
    inventory = listed(claude_home(tmp_path))
    assert [(each.what, each.file) for each in inventory.oddities] == [
        ("claude-history", "history.jsonl"),
        ("claude-aliases", f"{slug}/.session-aliases"),
        ("leftover", f"{slug}/{ONE}.jsonl.bak"),
        ("session-folder", f"{slug}/{TWO}"),
        ("claude-index", f"{slug}/sessions-index.json"),
        ("claude-registry", "sessions/123.json"),
        ("claude-settings", "settings.json"),
    ]
    folder = inventory.oddities[3]
    assert (folder.detail, folder.conversation) == ("subagents=1 results=1", f"-home-u-app/{TWO}")
    assert all(os.path.exists(each.path) for each in inventory.oddities)


@pytest.mark.parametrize("given", ["projects", "projects/-home-u-app"])
def test_claude_ids_do_not_depend_on_what_was_given(tmp_path: Path, given: str) -> None:
    store = claude_home(tmp_path) / given
    assert [each for each in ids(store) if "other" not in each] == CLAUDE_IDS
    inventory = listed(store)
    assert all(os.path.exists(store / part.file) for each in inventory.conversations for part in each.parts)
    agent_files = {each.file for each in inventory.oddities if each.what in ("claude-settings", "claude-registry")}
    assert agent_files == {str(tmp_path / "settings.json"), str(tmp_path / "sessions/123.json")}


@pytest.mark.parametrize("wanted", CLAUDE_IDS)
def test_claude_id_of_a_single_file(tmp_path: Path, wanted: str) -> None:
    home = claude_home(tmp_path)
    by_home = {each.id: each for each in listed(home).conversations}[wanted]
    found = only(home / "projects" / (wanted + ".jsonl"))
    assert (found.id, found.session_id, found.parent) == (wanted, by_home.session_id, by_home.parent)
    assert [part.file for part in found.parts] == [wanted.rpartition("/")[2] + ".jsonl"]
    assert found.layout == "file"


def test_side_files_of_a_single_file(tmp_path: Path) -> None:
    found = only(claude_home(tmp_path) / f"projects/-home-u-app/{ONE}.jsonl")
    assert f"{ONE}/subagents/agent-a1.jsonl" in {file.file for file in found.side_files}
    assert f"{ONE}/tool-results/t1.txt" in {file.file for file in found.side_files}


def test_a_project_folder_away_from_its_home(tmp_path: Path) -> None:
    put(tmp_path, {f"{ONE}.jsonl": LINE, f"{ONE}/subagents/agent-a.jsonl": LINE})
    assert ids(tmp_path) == [ONE, f"{ONE}/subagents/agent-a"]
    assert listed(tmp_path).conversations[1].parent == ONE


def test_a_session_folder_as_the_store(tmp_path: Path) -> None:
    folder = claude_home(tmp_path) / f"projects/-home-u-app/{ONE}"
    assert ids(folder)[0] == CLAUDE_IDS[1]
    assert ids(folder / "subagents")[0] == CLAUDE_IDS[1]
    assert listed(folder).conversations[0].parent == CLAUDE_IDS[0]


def test_a_claude_home_without_conversations(tmp_path: Path) -> None:
    put(tmp_path, {"history.jsonl": LINE, "projects/": b""})
    assert ids(tmp_path) == []
    assert oddities(tmp_path) == [("claude-history", "history.jsonl")]


def test_a_project_of_which_only_saved_results_are_left(tmp_path: Path) -> None:
    put(tmp_path, {f"projects/-p/{ONE}/tool-results/t.txt": b"saved"})
    (oddity,) = listed(tmp_path / "projects").oddities
    assert (oddity.what, oddity.detail) == ("session-folder", "subagents=0 results=1")


def test_projects_folder_of_another_kind_of_agent(tmp_path: Path) -> None:
    store = put(
        tmp_path / "projects" / "mine", {"a.jsonl": LINE, "a.meta.json": b"{}", "b.segments/000001.jsonl": LINE}
    )
    assert ids(store) == ["a", "b"]
    assert listed(store).layout == "flat"
    assert only(put(tmp_path / "projects" / "logs", {"a.jsonl": LINE}) / "a.jsonl").id == "a"


def test_a_flat_store_that_holds_a_folder_called_projects(tmp_path: Path) -> None:
    put(tmp_path, {"a.jsonl": LINE, "a.meta.json": b"{}", "projects/drafts/notes.txt": b""})
    assert ids(tmp_path) == ["a"]


def test_a_single_flat_file_with_companions(tmp_path: Path) -> None:
    put(tmp_path, {"a.jsonl": LINE, "a.segments/000001.jsonl": LINE, "a.segments/x": b"", "a.meta.json": b"{}"})
    put(tmp_path, {"a.lock": b"", "b.jsonl": LINE})
    inventory = listed(tmp_path / "a.jsonl")
    (found,) = inventory.conversations
    assert [part.file for part in found.parts] == ["a.segments/000001.jsonl", "a.jsonl"]
    assert found.metadata is not None
    assert found.lock is not None
    assert [(each.what, each.file) for each in inventory.oddities] == [("segment-name", "a.segments/x")]


def test_a_file_of_another_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, {"log.txt": LINE, "log.txt.meta.json": b"{}"})
    assert only(tmp_path / "log.txt").id == "log.txt"
    monkeypatch.chdir(tmp_path)
    assert only(Path("log.txt")).parts[0].file == "log.txt"


def test_links_are_followed_once(tmp_path: Path) -> None:
    put(tmp_path, {"projects/-real/1.jsonl": LINE, "elsewhere/-shared/2.jsonl": LINE, "elsewhere/3.jsonl": LINE})
    projects = tmp_path / "projects"
    (projects / "link-a").symlink_to("../elsewhere/-shared")
    (projects / "link-b").symlink_to("../elsewhere/-shared")
    (projects / "a-real").symlink_to("-real")
    (projects / "loop").symlink_to("..")
    (projects / "self").symlink_to(".")
    (projects / "dangling").symlink_to("./nowhere")
    (projects / "-real" / "0.jsonl").symlink_to("1.jsonl")
    (projects / "-real" / "3.jsonl").symlink_to("../../elsewhere/3.jsonl")
    (projects / "-real" / "4.jsonl").symlink_to("3.jsonl")
    for store, place in ((tmp_path, "projects/dangling"), (projects, "dangling")):
        assert ids(store) == ["-real/1", "-real/3", "link-a/2"]
        assert oddities(store) == [("dangling-link", place)]


def test_a_link_to_a_folder_above_what_another_link_led_to(tmp_path: Path) -> None:
    put(tmp_path, {"projects/-p/1.jsonl": LINE, "away/inner/2.jsonl": LINE, "away/3.jsonl": LINE})
    (tmp_path / "projects" / "a").symlink_to("../away/inner")
    (tmp_path / "projects" / "b").symlink_to("../away")
    assert ids(tmp_path) == ["-p/1", "a/2", "b/3"]


def test_a_link_that_leads_to_itself_is_dangling(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").symlink_to("a.jsonl")
    (oddity,) = listed(tmp_path).oddities
    assert (oddity.what, bool(oddity.detail)) == ("dangling-link", True)


def test_a_linked_log_with_segments_of_its_own(tmp_path: Path) -> None:
    put(tmp_path, {"b.jsonl": LINE, "a.segments/000001.jsonl": LINE})
    (tmp_path / "a.jsonl").symlink_to("b.jsonl")
    first, second = listed(tmp_path).conversations
    assert [part.file for part in first.parts] == ["a.segments/000001.jsonl", "a.jsonl"]
    assert second.id == "b"


def test_hard_links_are_two_conversations(tmp_path: Path) -> None:
    put(tmp_path, {"a.jsonl": LINE})
    os.link(tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    assert ids(tmp_path) == ["a", "b"]


def test_names_that_are_not_utf_8(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path)
    with open(folder + b"/caf\xe9.jsonl", "wb") as file:
        file.write(LINE)
    found = only(tmp_path)
    assert (found.id, found.parts[0].file) == (r"caf\xe9", r"caf\xe9.jsonl")
    assert os.path.exists(found.parts[0].path)
    found.id.encode()


def test_a_folder_is_listed_once_however_much_lies_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(10_000):
        (tmp_path / f"c{number}.jsonl").touch()
    listed: list[str] = []
    scandir = os.scandir

    def noted(path: str) -> object:
        listed.append(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", noted)
    assert len(ids(tmp_path)) == 10_000
    assert len(listed) == 1
