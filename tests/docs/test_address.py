"""The address of the repository is the same at every place that a release writes it to."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = ("README.md", "pyproject.toml", "docs/address")
LINK = re.compile(r"\[[^\]]*\]\(([^)#]+)")


def released(folder: Path, address: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / ".ci" / "release"), address, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def check_address(folder: Path) -> str:
    """Check that README and pyproject.toml have the address of docs/address, and return it."""
    address = (folder / "docs" / "address").read_text(encoding="utf-8").strip()
    targets = LINK.findall((folder / "README.md").read_text(encoding="utf-8"))
    own = [target for target in targets if not target.startswith(("https://doi.org/", "https://www."))]
    urls = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"].get("urls", {})
    assert own
    if address:
        assert all(target.startswith(f"{address}/") for target in own)
        assert urls["Homepage"] == address
    else:  # there was no release: links lead to files
        assert all((ROOT / target).exists() for target in own)
        assert not urls
    return address


def test_the_address_is_the_same_everywhere() -> None:
    check_address(ROOT)


def test_a_release_writes_the_address(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for name in FILES:
        shutil.copyfile(ROOT / name, tmp_path / name)
    for address in ("https://example.org/one/heldout", "https://example.org/two/heldout/"):
        assert released(tmp_path, address).returncode == 0
        assert check_address(tmp_path) == address.rstrip("/")
    texts = [(tmp_path / name).read_text(encoding="utf-8") for name in FILES]
    assert released(tmp_path, address).returncode == 0
    assert texts == [(tmp_path / name).read_text(encoding="utf-8") for name in FILES]
    refused = released(tmp_path, "example.org")
    assert refused.returncode != 0 and "got example.org" in refused.stderr
