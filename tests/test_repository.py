import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path, PurePosixPath

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
SHIPPED = ("agent", "bridges", "migrations", "plugins")
LONGEST_MODULE = 400
# Each pattern is written so that it does not match itself.
UNWANTED = {
    "a path of one machine": re.compile(r"(?<![\w.~-])/([r]oot|[h]ome/\w+|[U]sers/\w+|[w]ork|[o]pt/pypi)(?![\w-])"),
    "a package index": re.compile(r"pypi[.]org|python[h]osted|registry[.]npmjs|--(extra-)?index[-]url"),
}
LOCK_ENTRY = re.compile(
    r"^(?P<name>[\w.-]+)(?:\[[^\]]*\])?==(?P<version>[^\s;\\]+)(?P<rest>(?:.*\\\n)*.*)", re.MULTILINE
)


def git_files() -> list[PurePosixPath]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]  # new files count as well
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    return [PurePosixPath(name) for name in listed.split("\0") if name and (ROOT / name).is_file()]


def lock(name: str) -> dict[str, Version]:
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    return {canonicalize_name(e["name"]): Version(e["version"]) for e in LOCK_ENTRY.finditer(text)}


def project() -> dict[str, list[Requirement]]:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = {"runtime": table["dependencies"], **table["optional-dependencies"]}
    return {group: [Requirement(line) for line in lines] for group, lines in groups.items()}


@pytest.mark.parametrize("what", UNWANTED)
def test_no_file_holds(what: str) -> None:
    found = []
    for name in git_files():
        text = (ROOT / name).read_bytes().decode("utf-8", "replace")
        found += [f"{name}: {match[0]}" for match in UNWANTED[what].finditer(text)]
    assert found == []


@pytest.mark.parametrize("text", ["~root/x", "see ~home/ana/x", "a:~work", "https:~~pypi+org~simple"])
def test_the_unwanted_is_recognised(text: str) -> None:
    text = text.replace("~", "/").replace("+", ".")
    assert any(pattern.search(text) for pattern in UNWANTED.values())


def test_no_lock_records_where_packages_come_from() -> None:
    names = {file.name for file in git_files()}
    assert names.isdisjoint({"uv.lock", "poetry.lock", "pylock.toml", "Pipfile.lock"})
    for path in (ROOT / "requirements").glob("*.txt"):
        assert not re.search(r"^-|://", path.read_text(), re.MULTILINE), path.name


@pytest.mark.parametrize("name", ["bootstrap", "runtime", "dev"])
def test_each_locked_release_has_its_hashes(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    entries = list(LOCK_ENTRY.finditer(text))
    assert entries
    assert [e["name"] for e in entries if "--hash=sha256:" not in e["rest"]] == []


@pytest.mark.parametrize(("group", "name"), [("runtime", "runtime"), ("build", "runtime"), ("dev", "dev")])
def test_the_locks_hold_what_the_project_asks_for(group: str, name: str) -> None:
    locked = lock(name)
    for requirement in project()[group]:
        version = locked.get(canonicalize_name(requirement.name))
        assert version, f"{requirement} is not in requirements/{name}.txt: run make lock"
        assert version in requirement.specifier, f"{requirement}, but {version} is locked: run make lock"


def test_the_development_lock_holds_the_runtime_lock() -> None:
    runtime = lock("runtime")
    assert len(runtime) > 50
    assert runtime.items() <= lock("dev").items()


def test_each_ignored_rule_has_its_reason() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    settings = text.partition("[tool.ruff.lint]")[2].partition("[tool.ruff.lint.pylint]")[0]
    entries = [line.strip() for line in settings.splitlines() if re.match(r'\s+"\w+",', line)]
    ignored = tomllib.loads(text)["tool"]["ruff"]["lint"]
    assert len(entries) == len(ignored["ignore"]) + sum(map(len, ignored["per-file-ignores"].values()))
    assert [line for line in entries if not re.search(r",  # \w.{6,}", line)] == []


def test_no_module_is_too_long() -> None:
    lengths = {str(f): (ROOT / f).read_bytes().count(b"\n") for f in git_files() if f.suffix == ".py"}
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_MODULE} == {}


def test_the_wheel_carries_all_that_the_packages_hold(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("isthmus-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        carried = {name for name in archive.namelist() if ".dist-info/" not in name}
    expected = {str(file) for file in git_files() if file.parts[0] in SHIPPED}
    assert carried == expected
    assert any(name.endswith(".sql") for name in carried)
