"""Rules for tests: results do not depend on the order of tests, and every test can fail."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
MAKERS = {"default_rng", "Generator", "RandomState", "Random"}
CHECKS = {"raises", "warns", "fail", "check_estimator", "check_call"}
#: Names that tests import from inside a package, past its face. May only fall.
DEEP_IMPORTS = 446
#: Tests of which the whole point is that nothing is raised.
RAISES_NOTHING = {
    "test_a_description_changed_anywhere_is_refused_or_still_a_model",
    "test_a_file_that_the_demo_made_may_be_replaced",
    "test_a_learner_keeps_scikit_learns_conventions",  # whose checks raise
    "test_charts_follow_the_width_of_the_window",  # waits for it, and fails when it waits in vain
    "test_comparisons_are_json",
    "test_learning_curves_can_be_drawn",
}


def name_of(node: ast.expr) -> str:
    """Last part of a dotted name."""
    return getattr(node, "attr", None) or getattr(node, "id", None) or ""


def statements_run_on_import(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements at the level of the module or of a class, also within `if`, `for` and `with`."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        yield statement
        for field in ("body", "orelse", "finalbody"):
            yield from statements_run_on_import(getattr(statement, field, []))


def shared_generators(source: str) -> list[int]:
    """Lines that keep a random generator for the whole module or for all calls of a function."""
    tree = ast.parse(source)
    lines = []
    for statement in statements_run_on_import(tree.body):
        value = getattr(statement, "value", None)
        if isinstance(statement, ast.Assign | ast.AnnAssign) and is_generator(value):
            lines.append(statement.lineno)
    for node in ast.walk(tree):
        if isinstance(node, ast.arguments):
            defaults = [*node.defaults, *filter(None, node.kw_defaults)]
            lines += [default.lineno for default in defaults if is_generator(default)]
    return lines


def is_generator(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Call) and name_of(node.func) in MAKERS


def global_draws(source: str) -> list[int]:
    """Lines that draw from numpy's or Python's global generator."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and name_of(node.func.value) == "random"
        and ast.unparse(node.func.value) in {"np.random", "numpy.random"}
        and node.func.attr not in {*MAKERS, "SeedSequence", "PCG64", "MT19937", "Philox"}
    ]


def modules() -> list[Path]:
    return sorted(HERE.rglob("*.py"))


def test_no_generator_is_shared_by_tests():
    sources = {path.relative_to(HERE): path.read_text(encoding="utf-8") for path in modules()}
    lines = [
        f"{path}:{line}"
        for path, source in sources.items()
        for line in shared_generators(source) + global_draws(source)
    ]
    assert lines == [], "make the generator inside the test, fixture or function"


def can_fail(function: ast.FunctionDef, helpers: dict[str, ast.FunctionDef]) -> bool:
    """Whether a test checks something, itself or by a helper of its module."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assert | ast.Raise):
            return True
        if not isinstance(node, ast.Call):
            continue
        name = name_of(node.func)
        if name in CHECKS or name.startswith("assert_"):
            return True
        if name == "run" and any(keyword.arg == "check" for keyword in node.keywords):
            return True
        rest = {other: helper for other, helper in helpers.items() if other != name}
        if name in helpers and can_fail(helpers[name], rest):
            return True
    return False


def checkless_tests(source: str) -> list[str]:
    """Names of tests that check nothing."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    helpers = {one.name: one for one in functions if not one.name.startswith("test_")}
    tests = [one for one in functions if one.name.startswith("test_")]
    return [one.name for one in tests if not can_fail(one, helpers)]


def test_every_test_can_fail():
    checkless = {
        name for module in modules() for name in checkless_tests(module.read_text(encoding="utf-8"))
    }
    assert not checkless - RAISES_NOTHING


def deep_imports(source: str) -> int:
    """Number of names that a module imports from inside a package of Clearwood."""
    return sum(
        len(node.names)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom)
        and node.module
        and node.module.startswith("clearwood.")
        and node.module.count(".") > 1
    )


def test_tests_import_faces_of_packages():
    count = sum(deep_imports(module.read_text(encoding="utf-8")) for module in modules())
    assert count <= DEEP_IMPORTS, "import from the package, whose modules may move"


def test_an_import_from_inside_a_package_is_counted():
    assert deep_imports("from clearwood.table.reading import a, b") == 2
    assert deep_imports("from clearwood.table import a, b\nfrom clearwood import table") == 0


@pytest.mark.parametrize(
    "source",
    [
        "RNG = np.random.default_rng(0)",
        "if True:\n    RNG = default_rng(0)",
        "class TestA:\n    rng = np.random.RandomState(0)",
        "def draw(rng=np.random.default_rng(0)): ...",
    ],
)
def test_a_shared_generator_is_seen(source):
    assert shared_generators(source)


@pytest.mark.parametrize(
    "source",
    [
        "X = np.random.default_rng(0).normal(size=3)",
        "def draw():\n    rng = np.random.default_rng(0)",
    ],
)
def test_data_and_local_generators_are_let_through(source):
    assert not shared_generators(source)
    assert not global_draws(source)


def test_a_test_without_a_check_is_seen():
    helper = "def agree(a, b):\n    assert a == b\n"
    assert checkless_tests(helper + "def test_a():\n    agree(1, 1)\n") == []
    assert checkless_tests(helper + "def test_a():\n    model.fit(X)\n") == ["test_a"]
