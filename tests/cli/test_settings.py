"""Which setting wins, and where the name of the store came from."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from tests.cli.conftest import Run


def config(tmp_path: Path, text: str) -> dict[str, str]:
    file = tmp_path / "ops.toml"
    file.write_text(text)
    return {"JARVIS_OPS_CONFIG": str(file)}


def report(run: Run, *options: str, env: dict[str, str]) -> dict[str, object]:
    answer: dict[str, object] = orjson.loads(run("verify-pairs", "--json", *options, env=env).stdout)
    return answer


def test_each_place_gives_way_to_the_one_before(run: Run, store: Path, tmp_path: Path) -> None:
    file = config(tmp_path, f'store = "{store}"')
    own = {"SESSIONS_DIR": str(store)}
    ours = {"JARVIS_OPS_STORE": str(store)}
    assert report(run, env=own)["store_from"] == "variable SESSIONS_DIR"
    assert report(run, env={**own, **file})["store_from"] == f"file {file['JARVIS_OPS_CONFIG']}"
    assert report(run, env={**own, **file, **ours})["store_from"] == "variable JARVIS_OPS_STORE"
    assert report(run, "--store", str(store), env={**own, **file, **ours})["store_from"] == "flag --store"


def test_the_default_is_the_folder_of_jarvis(run: Run, environment: dict[str, str], store: Path) -> None:
    folder = Path(environment["HOME"], ".jarvis")
    folder.mkdir()
    store.rename(folder / "sessions")
    answer = report(run, env={})
    assert (answer["store"], answer["store_from"]) == (str(folder / "sessions"), "default")


def test_options_from_the_file_and_from_variables(run: Run, store: Path, tmp_path: Path) -> None:
    file = config(tmp_path, 'fail-on = "never"\noutput = "json"')
    done = run("verify-pairs", "--store", str(store), env=file)
    assert done.returncode == 0
    assert orjson.loads(done.stdout)["exit_code"] == 0
    assert run("verify-pairs", "--store", str(store), env={**file, "JARVIS_OPS_FAIL_ON": "error"}).returncode == 1
    again = run("verify-pairs", "--store", str(store), "--fail-on", "never", env={"JARVIS_OPS_FAIL_ON": "error"})
    assert again.returncode == 0


def test_accepted_findings_fail_no_run(run: Run, store: Path, tmp_path: Path) -> None:
    file = config(tmp_path, '[[accept]]\nconversation = "broken"\nrule = "unanswered-call"')
    done = run("verify-pairs", "--store", str(store), "--json", env=file)
    assert done.returncode == 0
    assert orjson.loads(done.stdout)["counts"]["accepted"] == 1


def test_an_unknown_key(run: Run, store: Path, tmp_path: Path) -> None:
    file = config(tmp_path, 'scpoe = "full"')
    done = run("verify-pairs", "--store", str(store), "--json", env=file)
    assert done.returncode == 2
    assert orjson.loads(done.stdout)["errors"][0]["code"] == "configuration"
    assert b"'scpoe'" in done.stderr
    assert b"'scope'" in done.stderr
    assert run("verify-pairs", "--help", env=file).returncode == 0
    assert run("sessions", "--store", str(store), env=file).returncode == 2


@pytest.mark.parametrize(
    "name",
    [
        "postgresql://u:s3cret@h/d",
        "postgresql://u:s3cr@et@h/d?password=s3cret",
        "postgres://u:12/s3cret@h/d",
        "postgres://u:12?s3cret@h/d",
        "postgresql://h/d?password=s3cret",
        "host=h password=s3cret",
        "host=h password='s3cret'",
    ],
)
@pytest.mark.parametrize("output", ["table", "json", "jsonl"])
def test_a_password_is_never_shown(run: Run, name: str, output: str) -> None:
    backend = {"JARVIS_SESSION__PERSISTENCE_BACKEND": "postgres", "POSTGRES_DSN": name}
    for done in (
        run("verify-pairs", "--output", output, env=backend),
        run("sessions", "--store", name, "--output", output),
    ):
        assert done.returncode in {2, 3}
        assert b"s3cr" not in done.stdout + done.stderr
        assert b"12" not in done.stdout + done.stderr
