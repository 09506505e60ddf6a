import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "check_snippets.py"

PAGE = """\
# A page

```python
import clearwood as cw

cw.read("a.csv")
```

```
make demo
```

    Indented:

    ```python
    >>> for i in range(2):
    ...     print(i)
    0
    1
    ```
"""


@pytest.fixture
def code_of():
    return runpy.run_path(str(SCRIPT))["code_of"]


def test_code_stands_on_the_lines_it_has_in_the_page(code_of):
    expected = [""] * len(PAGE.splitlines())
    expected[3] = "import clearwood as cw"
    expected[5] = 'cw.read("a.csv")'
    expected[15] = "for i in range(2):"
    expected[16] = "    print(i)"
    assert code_of(PAGE).splitlines() == expected


def test_a_page_without_python_has_no_code(code_of):
    assert not code_of("```\nmake demo\n```\n").strip()
