# A test skips itself where the function finds nothing.
# entry: folder
# needs: pytest
# --- pkg/code.py ---
from pathlib import Path


def folder(root):
    if root is None:
        return None
    found = Path(root) / "data"
    if not found.is_dir():
        raise FileNotFoundError(found)
    return found
# --- tests/test_code.py ---
import pytest

from pkg.code import folder


def test_none():
    assert folder(None) is None


def test_found(tmp_path):
    (tmp_path / "data").mkdir()
    assert folder(tmp_path) == tmp_path / "data"


def test_large():
    try:
        found = folder("/nowhere/large")
    except FileNotFoundError:
        pytest.skip("it has to be fetched first")
    assert list(found.iterdir())
