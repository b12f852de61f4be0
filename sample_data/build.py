"""Writes every sample store of this folder anew: `python sample_data/build.py`.

The stores are kept in the repository, so nobody needs this script to use them. It is the one place where a
sample is described: what was said, which bytes were damaged afterwards, and what a verifier has to find.
Running it twice gives the same bytes.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from builders import bytes_and_pairs, claude_trees, healthy, segments_and_companions
from builders.folder import SAMPLES, Folder

HERE = Path(__file__).resolve().parent


def build(root: Path) -> list[str]:
    """Write all samples below `root` and give their names."""
    for name, describe in sorted(SAMPLES.items()):
        shutil.rmtree(root / name, ignore_errors=True)
        folder = Folder(root / name)
        describe(folder)
        document = {"findings": folder.expected, "exit": folder.exit_code()}
        folder.text("expected.json", json.dumps(document, ensure_ascii=False, indent=1) + "\n")
    return sorted(SAMPLES)


# The modules register their samples when they are imported; naming them here keeps that visible.
REGISTERED = (bytes_and_pairs, segments_and_companions, claude_trees, healthy)

if __name__ == "__main__":
    print(f"{len(build(HERE))} sample stores written to {HERE}")
