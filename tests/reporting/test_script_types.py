"""The page's script is checked as strict TypeScript: its types are in JSDoc comments.

Deno's package brings the compiler, so neither Node nor a download of its packages is needed.
"""

import json
import os
import re
import subprocess

import pytest

from clearwood.reporting.page import page as page_module

OPTIONS = {
    "checkJs": True,
    "strict": True,
    "noImplicitReturns": True,
    "lib": ["es2022", "dom", "dom.iterable"],
}


@pytest.fixture
def messages_about(tmp_path):
    """Check a script and give the compiler's messages, or nothing if it has none."""
    deno = pytest.importorskip("deno", reason="Deno is not installed; `make test` installs it")
    (tmp_path / "deno.json").write_text(json.dumps({"compilerOptions": OPTIONS}))

    def check(script):
        (tmp_path / "page.js").write_text(script, encoding="utf-8")
        settings = {"DENO_DIR": str(tmp_path / "cache"), "DENO_NO_UPDATE_CHECK": "1"}
        done = subprocess.run(
            [deno.find_deno_bin(), "check", "--quiet", "page.js"],
            cwd=tmp_path,
            env={**os.environ, **settings, "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stderr if done.returncode else ""

    return check


def with_places_in_the_files(messages, files):
    """Replace lines of the joined script by those of the file they came from."""

    def place(match):
        line = int(match[1])
        for name, text in files.items():
            length = text.count("\n") + 1
            if line <= length:
                return f"{name}:{line}"
            line -= length
        return match[0]

    return re.sub(r"file://\S+page\.js:(\d+)", place, messages)


def test_the_script_has_no_type_errors(messages_about):
    files = {name: page_module._static(name) for name in page_module._SCRIPTS}
    messages = messages_about("\n".join(files.values()))
    assert not messages, with_places_in_the_files(messages, files)


def test_what_runs_before_the_first_paint_has_no_type_errors(messages_about):
    assert not messages_about(page_module._static("head.js"))


def test_a_type_error_would_be_seen(messages_about):
    assert "does not exist on type 'Document'" in messages_about("document.nonsense();\n")
