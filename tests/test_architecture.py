"""The house rule on imports: data flows one way, so a package imports only from its left."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import clearwood

ROOT = Path(clearwood.__file__).parent

# Left to right; packages of one step may not import each other.
FLOW = [
    {"_shared"},
    {"kernels", "files"},
    {"parallel"},
    {"table"},
    {"checks"},
    {"models"},
    {"losses", "resampling"},
    {"evaluation"},
    {"benchmarking"},
    {"forest"},
    {"explanation", "condensing"},
    {"causal"},
    {"fairness", "datasets"},
    {"plot"},
    {"reporting"},
    {"cli", "serve"},
]
#: Rooms whose results draw themselves: plot() imports the figure on demand.
PLOTTED = {
    "table",
    "models",
    "checks",
    "evaluation",
    "benchmarking",
    "explanation",
    "condensing",
    "causal",
    "fairness",
}
STEP = {package: step for step, packages in enumerate(FLOW) for package in packages}


def imported_rooms(module: Path) -> set[str]:
    """Top-level parts of clearwood that a module imports, at its head or on demand."""
    rooms = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            dotted = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "clearwood":
            dotted = [f"clearwood.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            dotted = [node.module or ""]
        else:
            continue
        rooms |= {name.split(".")[1] for name in dotted if name.startswith("clearwood.")}
    return rooms


def modules() -> list[Path]:
    return sorted(path for path in ROOT.rglob("*.py") if path.parent != ROOT)


@pytest.mark.parametrize("module", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_packages_import_only_leftwards(module):
    home = module.relative_to(ROOT).parts[0]
    for room in imported_rooms(module) - {home}:
        # drawing is reached from results by their plot() method, on demand
        if room == "plot" and home in PLOTTED:
            continue
        # and the page of an audit by its save() method
        if room == "reporting" and home == "fairness":
            continue
        assert STEP[room] < STEP[home], f"{home} imports {room}, which stands to its right"


def test_every_package_has_a_place_in_the_flow():
    packages = {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()}
    assert packages <= set(STEP)


def test_relative_imports_are_not_used():
    for module in modules():
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.ImportFrom) and node.level), module


def test_public_names_can_all_be_imported():
    for name in clearwood.__all__:
        assert getattr(clearwood, name) is not None


def test_unknown_public_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = clearwood.nonsense


@pytest.mark.parametrize(
    "package",
    [
        "clearwood",
        "clearwood.benchmarking",
        "clearwood.evaluation",
        "clearwood.models",
        "clearwood.plot",
        "clearwood.table",
    ],
)
def test_names_imported_on_demand_are_those_that_are_listed(package):
    module = import_module(package)
    assert sorted(module.__all__) == dir(module)
    for name in module.__all__:
        assert getattr(module, name) is not None


# Packages use each other's public names only

#: Public modules that are no package.
PUBLIC_MODULES = {"clearwood.losses"}


def packages() -> set[str]:
    """Give every package, by its dotted name."""
    folders = (path.parent.relative_to(ROOT) for path in ROOT.rglob("__init__.py"))
    return {".".join(("clearwood", *folder.parts)) for folder in folders}


@pytest.mark.parametrize("module", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_packages_are_used_through_their_public_names(module):
    home = module.relative_to(ROOT).parts[0].removesuffix(".py")
    allowed = packages() | PUBLIC_MODULES
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("clearwood."):
            continue
        room = node.module.split(".")[1]
        if room in {home, "_shared"}:
            continue
        assert node.module in allowed, f"{node.module} is no public face of {room}"
        public = getattr(import_module(node.module), "__all__", ())
        for alias in node.names:
            full = f"{node.module}.{alias.name}"
            assert alias.name in public or full in packages(), f"{full} is not in __all__"
