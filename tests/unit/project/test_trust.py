from __future__ import annotations

from pathlib import Path

import pytest

from studio.errors import InputError
from studio.project import trust


def test_trust_is_for_this_folder_with_this_content(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    for folder in (mine, other):
        folder.mkdir()
        (folder / "net.py").write_text("x = 1\n")
    assert not trust.is_trusted(mine)
    trust.trust_folder(mine)
    assert trust.is_trusted(mine)
    assert not trust.is_trusted(other)
    trust.distrust_folder(mine)
    assert not trust.is_trusted(mine)


@pytest.mark.parametrize("name", ["net.py", "helpers/new.py", "fast.so", "old.pyc"])
def test_changed_or_added_code_asks_again(tmp_path: Path, name: str) -> None:
    (tmp_path / "net.py").write_text("x = 1\n")
    trust.trust_folder(tmp_path)
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("import os\n")
    assert not trust.is_trusted(tmp_path)


def test_data_caches_and_environments_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("x = 1\n")
    trust.trust_folder(tmp_path)
    for name in ("data/a.npz", "__pycache__/net.cpython-311.pyc", ".git/hook.py", "env/lib/x.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    (tmp_path / "env" / "pyvenv.cfg").write_text("")
    assert trust.is_trusted(tmp_path)
    assert trust.python_files(tmp_path) == (tmp_path.resolve() / "net.py",)


def test_a_folder_of_everything_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust, "_MOST_FILES", 2)
    for i in range(3):
        (tmp_path / f"{i}.py").touch()
    with pytest.raises(InputError, match="more than 2"):
        trust.trust_folder(tmp_path)
