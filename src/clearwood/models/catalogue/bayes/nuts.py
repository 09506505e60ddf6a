"""Draws from a posterior by the no-U-turn sampler of nutpie."""

from importlib.util import find_spec
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import MissingExtraError
from clearwood._shared.progress import Step, silent
from clearwood.models.catalogue.bayes.chains import Chains, Density

__all__ = ["nuts"]


def nuts(
    posterior: Density,
    centre: Floats,
    root: Floats,
    *,
    draws: int,
    chains: int,
    seed: int,
    step: Step = silent,
) -> Chains:
    """Draw from a posterior, with parameters as those of `hamiltonian`."""
    if find_spec("nutpie") is None:
        raise MissingExtraError("method 'nuts' of learner 'bayes'", extra="nuts")
    import nutpie
    from nutpie.compiled_pyfunc import from_pyfunc

    def make_density() -> Any:
        def density(place: Floats) -> tuple[float, Floats]:
            value, gradient = posterior((centre + root @ place)[None, :])
            return float(value[0]), gradient[0] @ root

        return density

    def make_expanded(*_: int) -> Any:
        return lambda place: {"place": np.array(place)}

    compiled = from_pyfunc(
        len(centre),
        make_density,
        make_expanded,
        [np.dtype(np.float64)],
        [(len(centre),)],
        ["place"],
    )
    trace = nutpie.sample(
        compiled,
        draws=draws,
        tune=max(draws // 2, 100),
        chains=chains,
        cores=1,
        seed=seed,
        progress_bar=False,
    )
    step(draws + max(draws // 2, 100))
    places = np.asarray(trace.posterior["place"], np.float64)
    return Chains(centre + places @ root.T, float("nan"))
