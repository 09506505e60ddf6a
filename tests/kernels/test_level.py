import pytest

from clearwood import InputError
from clearwood.kernels import _core, level, simd_level

SHOW = "from clearwood.kernels import simd_level; print(simd_level())"


def test_widest_supported_level_is_used_unless_another_is_asked_for(run_python):
    done = run_python(SHOW, CLEARWOOD_SIMD="")
    assert done.stdout.strip() == _core.supported_levels()[-1], done.stderr


def test_baseline_is_always_there():
    assert _core.supported_levels()[0] == "baseline"


def test_level_in_use_can_be_read(each_level):
    assert simd_level() == each_level


def test_mistyped_level_is_answered_with_the_nearest(run_python):
    done = run_python(SHOW, CLEARWOOD_SIMD="avx12")
    assert done.returncode != 0
    assert "CLEARWOOD_SIMD='avx12' is not an instruction set" in done.stderr
    assert "did you mean" in done.stderr


def test_level_the_machine_lacks_is_refused(monkeypatch):
    monkeypatch.setattr(_core, "supported_levels", lambda: ["baseline"])
    before = simd_level()
    with pytest.raises(InputError, match=r"'avx512' cannot be used.*choose from baseline"):
        level._use_requested_level("avx512")
    assert simd_level() == before


def test_compiled_module_refuses_unknown_levels_itself():
    with pytest.raises(ValueError, match="no such instruction-set level on this machine: sse9"):
        _core.use_level("sse9")
