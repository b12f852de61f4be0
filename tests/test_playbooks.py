"""The playbooks work: typed from top to bottom, each command answers as the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_ops.render.changes import HELD, HELD_BECAUSE
from jarvis_ops.rules.catalog import RULES
from tests.documents import PLAYBOOKS, ROOT, Reader, clone, exchanges, inline

# This one needs a database, and is followed where the tests have one.
ELSEWHERE = {"migrate-seq"}
PAGES = [page for page in PLAYBOOKS if page.stem not in ELSEWHERE]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_playbook_can_be_followed(page: Path, tmp_path: Path) -> None:
    reader = Reader(clone(tmp_path))
    typed = list(exchanges(page))
    assert typed
    for exchange in typed:
        said, expected = reader.types(exchange)
        assert said == expected, exchange.command


def test_every_playbook_is_named_by_a_rule_and_every_named_one_exists() -> None:
    named = {ROOT / rule.playbook for rule in RULES.values() if rule.playbook}
    assert named == set(PLAYBOOKS)


def test_what_is_held_back_is_explained() -> None:
    reasons = {f"{HELD}: it {why}" for why in HELD_BECAUSE.values()}
    assert reasons <= inline(ROOT / "playbooks" / "broken-conversation.md")
