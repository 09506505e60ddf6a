"""The house rule on imports: data flows one way, so a package imports only from its left."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from inspect import isfunction
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
    {"losses"},
    {"checks"},
    {"models"},
    {"forest"},
    {"fitted"},
    {"resampling"},
    {"evaluation"},
    {"benchmarking"},
    {"explanation", "condensing"},
    {"causal"},
    {"fairness", "datasets"},
    {"plot"},
    {"reporting"},
    {"cli"},
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


@cache
def imports() -> dict[Path, list[ast.Import | ast.ImportFrom]]:
    """The imports of each module, at its head or on demand."""
    return {
        module: [
            node
            for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
            if isinstance(node, ast.Import | ast.ImportFrom)
        ]
        for module in sorted(ROOT.rglob("*.py"))
        if module.parent != ROOT
    }


def imported_rooms(module: Path) -> set[str]:
    """Top-level parts of clearwood that a module imports."""
    rooms = set()
    for node in imports()[module]:
        if isinstance(node, ast.Import):
            dotted = [alias.name for alias in node.names]
        elif node.module == "clearwood":
            dotted = [f"clearwood.{alias.name}" for alias in node.names]
        elif node.level == 0:
            dotted = [node.module or ""]
        else:
            continue
        rooms |= {name.split(".")[1] for name in dotted if name.startswith("clearwood.")}
    return rooms


def home_of(module: Path) -> str:
    return module.relative_to(ROOT).parts[0]


def may_import(home: str, room: str) -> bool:
    # drawing is reached from results by their plot() method, on demand
    drawn = room == "plot" and home in PLOTTED
    # and the page of an audit by its save() method
    saved = room == "reporting" and home == "fairness"
    return drawn or saved or STEP[room] < STEP[home]


def test_packages_import_only_leftwards():
    rightwards = [
        f"{module.relative_to(ROOT)} imports {room}, which stands to the right of its package"
        for module in imports()
        for room in imported_rooms(module) - {home_of(module)}
        if not may_import(home_of(module), room)
    ]
    assert rightwards == []


def test_every_package_has_a_place_in_the_flow():
    packages = {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()}
    assert packages <= set(STEP)


def is_relative(node: ast.Import | ast.ImportFrom) -> bool:
    return isinstance(node, ast.ImportFrom) and node.level > 0


def test_relative_imports_are_not_used():
    relative = [module for module, nodes in imports().items() if any(map(is_relative, nodes))]
    assert relative == []


def test_public_names_can_all_be_imported():
    for name in clearwood.__all__:
        assert getattr(clearwood, name) is not None


def test_unknown_public_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = clearwood.nonsense


def test_the_top_holds_the_verbs_and_the_few_types_that_users_write():
    assert len(clearwood.__all__) <= 36


@pytest.mark.parametrize(
    ("name", "home"),
    [
        ("Shapley", "clearwood.explanation"),
        ("boundaries", "clearwood.explanation"),
        ("FairModel", "clearwood.fairness"),
        ("inclusion", "clearwood.benchmarking"),
        ("KFold", "clearwood.resampling"),
        ("Forest", "clearwood.forest"),
    ],
)
def test_the_error_for_a_name_of_a_package_says_where_it_is(name, home):
    with pytest.raises(AttributeError, match=f"Hint: from {home} import {name}$"):
        getattr(clearwood, name)
    assert getattr(getattr(clearwood, home.split(".")[1]), name) is not None


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


@cache
def packages() -> frozenset[str]:
    """Give every package, by its dotted name."""
    folders = (path.parent.relative_to(ROOT) for path in ROOT.rglob("__init__.py"))
    return frozenset(".".join(("clearwood", *folder.parts)) for folder in folders)


def private_names(module: Path) -> Iterator[str]:
    """What a module takes from another part of clearwood past its public face."""
    for node in imports()[module]:
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("clearwood."):
            continue
        room = node.module.split(".")[1]
        if room in {home_of(module), "_shared"}:
            continue
        if node.module not in packages() | PUBLIC_MODULES:
            yield f"{node.module}, which is not a public face of {room}"
            continue
        public = getattr(import_module(node.module), "__all__", ())
        for alias in node.names:
            full = f"{node.module}.{alias.name}"
            if alias.name not in public and full not in packages():
                yield f"{full}, which is not in __all__"


def test_packages_are_used_through_their_public_names():
    taken = [
        f"{module.relative_to(ROOT)} takes {name}"
        for module in imports()
        for name in private_names(module)
    ]
    assert taken == []


# Inside a package, sub-folders stand in an order too

#: Folders that still import each other. The list may only get shorter.
MUTUAL: set[tuple[str, str]] = set()


#: The order of folders inside a package, left to right; those of one step may not import each
#: other. A package's own modules come last, or where "." stands.
#: docs/background/architecture.md gives the reasons.
ORDER = {
    "benchmarking": [
        {"fitting"},
        {"intervals", "tuning"},
        {"diagnostics", "over_parts"},
        {"running"},
    ],
    "condensing": [{"tree"}, {"compose", "proof", "reading"}, {"export"}],
    "causal": [{"graph"}, {"direct", "scm"}],
    "explanation": [
        {"results"},
        {"rows"},
        {"sampling"},
        {"games"},
        {"decomposition"},
        {"effects", "linear", "shapley"},
        {"factors", "local"},
        {"importance", "monotone"},
    ],
    "fairness": [{"groups"}, {"predictors"}, {"gaps"}],
    "models": [
        {"shared"},
        {"entries"},
        {"catalogue"},
        {"files", "over_parts", "selection"},
    ],
    "reporting": [{"page"}, {"browser"}, {"collect"}, {"sections"}],
    "table": [{"."}, {"kinds"}, {"sources"}, {"roles"}, {"encoding"}, {"parts"}, {"reading"}],
}


@cache
def modules() -> dict[str, Path]:
    """Every module and package by its dotted name."""
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = ("clearwood", *path.relative_to(ROOT).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def names_taken(module: Path) -> Iterator[str]:
    """Dotted names that a module imports, and those that it holds as strings."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and re.fullmatch(r"clearwood(\.\w+)+", str(node.value)):
            yield str(node.value)


def folders_used(module: Path) -> Iterator[str]:
    """Folders of the same package that a module takes something from, package faces aside."""
    home = module.parent.relative_to(ROOT)
    for name in names_taken(module):
        # a name may be of a module, or of something in it
        path = modules().get(name) or modules().get(name.rpartition(".")[0])
        if path is None:
            continue
        there = path.parent.relative_to(ROOT)
        is_face = path.name == "__init__.py" and len(there.parts) == 1
        if there.parts[:1] == home.parts[:1] and there != home and not is_face:
            yield there.as_posix()


@cache
def folder_imports() -> dict[tuple[str, str], list[str]]:
    """Which modules make one folder of a package import another one."""
    found = defaultdict(list)
    for module in modules().values():
        if module.parent != ROOT and module.name != "__init__.py":
            home = module.parent.relative_to(ROOT).as_posix()
            for there in folders_used(module):
                found[home, there].append(module.stem)
    return dict(found)


def test_no_two_folders_of_a_package_import_each_other():
    arrows = folder_imports()
    mutual = {(here, there) for here, there in arrows if here < there and (there, here) in arrows}
    added = [
        f"{here} takes from {there} in {sorted(set(arrows[here, there]))}, "
        f"{there} from {here} in {sorted(set(arrows[there, here]))}"
        for here, there in sorted(mutual - MUTUAL)
    ]
    assert added == []
    assert MUTUAL - mutual == set(), "no longer mutual: take them from the list"


#: Functions that word a result of their package.
WORDING = {"fitted_to", "find_loss", "sentence_of", "shape_of"}


def test_sections_of_a_page_import_nothing_that_computes():
    """They word what `reporting.collect` has computed in steps, and draw it."""
    computing = []
    for module in sorted((ROOT / "reporting" / "sections").glob("*.py")):
        for node in imports()[module]:
            if isinstance(node, ast.Import):
                computing += [
                    (module.stem, alias.name) for alias in node.names if "." in alias.name
                ]
                continue
            dotted = (node.module or "").split(".")
            if dotted[0] == "scipy":
                computing.append((module.stem, node.module))
            if dotted[:2] == ["clearwood", "reporting"]:
                words_only = dotted[2] in {"page", "sections"} or dotted[2:] in WORDED
                computing += [] if words_only else [(module.stem, node.module)]
            elif dotted[0] == "clearwood" and dotted[1] not in {"_shared", "plot"}:
                computing += [
                    (module.stem, alias.name)
                    for alias in node.names
                    if isfunction(getattr(import_module(node.module), alias.name))
                    and alias.name not in WORDING
                ]
    assert computing == []


#: Modules of a report that hold results, or write values for the page.
WORDED = (["collect", "findings"], ["browser", "columns"])


def place_of(folder: str, package: str) -> int:
    """Return the step of a folder in the order of its package, which itself may come last."""
    inner = "." if folder == package else folder.split("/")[1]
    steps = (step for step, folders in enumerate(ORDER[package]) if inner in folders)
    return next(steps, len(ORDER[package]))


@pytest.mark.parametrize("package", ORDER)
def test_folders_of_a_package_import_only_leftwards(package):
    folders = {path.parent.name for path in (ROOT / package).glob("*/__init__.py")}
    assert folders == set().union(*ORDER[package]) - {"."}
    rightwards = [
        f"{here} takes from {there}, which stands to its right, in {sorted(set(modules))}"
        for (here, there), modules in sorted(folder_imports().items())
        if here.split("/")[0] == package
        and place_of(here, package) <= place_of(there, package)
        and here.split("/")[:2] != there.split("/")[:2]
    ]
    assert rightwards == []


# One view of a fitted model


def asks_for_probabilities(module: Path) -> bool:
    """Whether a module calls predict_proba, or looks whether there is one; defining it is fine."""
    return any(
        (isinstance(node, ast.Attribute) and node.attr == "predict_proba")
        or (isinstance(node, ast.Constant) and node.value == "predict_proba")
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
    )


def test_only_models_and_their_one_view_ask_for_probabilities():
    found = {
        module.relative_to(ROOT).as_posix()
        for module in modules().values()
        if home_of(module) not in ("models", "fitted") and asks_for_probabilities(module)
    }
    assert found == set(), "use clearwood.fitted.FittedModel"
