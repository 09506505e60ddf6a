"""Training of networks: gradients, determinism, early stopping, schedules, weights, divergence."""

import numpy as np
import pytest

from clearwood import InputError
from clearwood.models.catalogue.network.estimators import NetworkClassifier, NetworkRegressor
from clearwood.models.catalogue.network.plan import TrainingPlan, held_out_rows
from clearwood.models.catalogue.network.torch_extra import one_thread

torch = pytest.importorskip("torch")
modules = pytest.importorskip("clearwood.models.catalogue.network.modules")
training = pytest.importorskip("clearwood.models.catalogue.network.training")

LAYERS = {"layers": 2, "units": 4, "activation": "silu", "dropout": 0.0, "batch_norm": False}
CATEGORY = {"levels": [3], "widths": [2]}


def rows(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[:, 2] = rng.integers(0, 3, n)
    return X, X[:, 0] - np.abs(X[:, 1]) + (X[:, 2] == 1)


def every_network():
    return {
        "mlp": modules.Mlp(n_numbers=4, n_outputs=1, members=2, **CATEGORY, **LAYERS),
        "batch norm": modules.Mlp(
            n_numbers=4, n_outputs=1, members=2, **CATEGORY, **{**LAYERS, "batch_norm": True}
        ),
        "monotone": modules.MonotoneMlp(directions=[1, 0, -1, 0], members=2, **CATEGORY, **LAYERS),
        "transformer": modules.Transformer(
            owners=[0, 0, 1, 2],
            category_owners=[3],
            n_columns=4,
            levels=[3],
            n_outputs=1,
            layers=2,
            width=4,
            heads=2,
            dropout=0.0,
        ),
        "cnn": modules.Cnn(shape=(2, 3), cells=[0, 1, 3, 5], channels=1, n_outputs=1, **LAYERS),
    }


@pytest.mark.parametrize(
    ("name", "family"),
    [
        *((name, "gaussian") for name in every_network()),
        *(("mlp", family) for family in ("poisson", "gamma", "binomial")),
    ],
)
def test_gradients_of_the_loss_are_those_of_finite_differences(name, family):
    network = every_network()[name]
    generator = torch.Generator().manual_seed(0)
    modules.initialise(network, generator, [0.1])
    with torch.no_grad():  # the head begins at zero, and hides all gradients before it
        network.head.weight.normal_(generator=generator)
    network = network.double().train()
    numbers = torch.randn(6, 4, generator=generator, dtype=torch.float64)
    codes = torch.tensor([[0], [1], [2], [3], [0], [1]])
    target = torch.tensor([1.0, 0.0, 1.0, 1.0, 0.0, 1.0], dtype=torch.float64)
    target = target + 0.5 if family == "gamma" else target

    def loss():
        score = network(numbers, network.embed(codes) if name != "cnn" else None)
        return training.LOSSES[family](score, target).mean()

    with one_thread():
        gradients, slopes = gradients_and_slopes(network, loss)
    assert len(gradients) > 15
    np.testing.assert_allclose(gradients, slopes, rtol=1e-5, atol=1e-7)


def gradients_and_slopes(network, loss):
    loss().backward()
    gradients, slopes = [], []
    for parameter in network.parameters():
        if parameter.grad is None:
            continue  # the category of a network that has none
        for at in range(0, parameter.numel(), max(1, parameter.numel() // 3)):
            flat, step = parameter.data.view(-1), 1e-6
            before = flat[at].item()
            values = []
            for moved in (before + step, before - step):
                flat[at] = moved
                values.append(float(loss().detach()))
            flat[at] = before
            slopes.append((values[0] - values[1]) / (2 * step))
            gradients.append(parameter.grad.view(-1)[at].item())
    return gradients, slopes


def test_the_same_seed_gives_the_same_network_whatever_the_threads():
    X, y = rows(600)
    before = torch.get_num_threads()
    arrays = []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            model = NetworkRegressor(categorical=[2], units=128, epochs=2, batch_size=300)
            arrays.append(model.fit(X, y).arrays_)
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    for name, array in arrays[0].items():
        np.testing.assert_array_equal(array, arrays[1][name])


def test_fitting_leaves_the_global_generators_alone():
    X, y = rows(40)
    torch.manual_seed(3)
    expected = torch.rand(3)
    torch.manual_seed(3)
    NetworkRegressor(categorical=[2], epochs=2).fit(X, y)
    torch.testing.assert_close(torch.rand(3), expected)


def test_another_seed_gives_another_network():
    X, y = rows(40)
    one, other = (NetworkRegressor(random_state=s, epochs=2).fit(X, y) for s in (0, 1))
    assert np.abs(one.predict(X) - other.predict(X)).max() > 1e-6


def test_early_stopping_keeps_the_weights_of_the_best_epoch():
    X, y = rows(300)
    y = y + np.random.default_rng(1).normal(size=300)
    model = NetworkRegressor(early_stopping=True, epochs=60, patience=5, learning_rate=0.03)
    model.fit(X, y)
    validation = model.curve_["validation"]
    assert len(validation) < 60
    assert model.best_epoch_ == np.argmin(validation) + 1 == len(validation) - 5
    held = held_out_rows(300, 0.15, None, 0)
    assert len(held) == model.n_held_out_ == 45
    spread = y.std()
    # the constant that balances the mean is added after training
    score = model.predict(X) - np.mean(model.predict(X)) + np.mean(y)
    errors = ((score - y) / spread)[held]
    balance = np.ptp([errors.mean(), 0.0])
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(
        np.sqrt(validation.min()), abs=balance + 0.1
    )


def test_rows_held_out_have_every_class_and_leave_every_class():
    classes = np.repeat([0, 1, 2], [50, 20, 1])
    held = held_out_rows(71, 0.2, classes, seed=4)
    assert np.bincount(classes[held], minlength=3).tolist() == [10, 4, 0]


def test_too_few_rows_for_early_stopping_are_refused_with_what_to_set():
    X, y = rows(30)
    with pytest.raises(InputError, match=r"holds out 4 rows of 30.*Hint: set early_stopping=False"):
        NetworkRegressor(early_stopping=True).fit(X, y)


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "sgd"])
@pytest.mark.parametrize("schedule", ["constant", "cosine", "step", "plateau"])
def test_every_optimizer_learns_with_every_schedule(optimizer, schedule):
    X, y = rows(200)
    settings = {"epochs": 25, "learning_rate": 0.1 if optimizer == "sgd" else 0.02}
    model = NetworkRegressor(
        optimizer=optimizer, schedule=schedule, units=16, categorical=[2], **settings
    ).fit(X, y)
    assert np.mean((model.predict(X) - y) ** 2) < 0.35 * np.var(y)
    rates = model.curve_["learning_rate"]
    if schedule == "constant":
        assert set(rates) == {settings["learning_rate"]}
    elif schedule == "cosine":
        assert rates[-1] < 0.01 * rates.max()
    elif schedule == "step":
        assert rates[-1] == pytest.approx(settings["learning_rate"] / 16)


def test_plateau_lowers_the_rate_where_the_loss_stands_still():
    X = np.zeros((40, 1))
    y = np.random.default_rng(0).normal(size=40)
    model = NetworkRegressor(
        schedule="plateau", epochs=30, patience=6, dropout=0.0, learning_rate=0.5, units=4
    ).fit(X, y)
    assert model.curve_["learning_rate"][-1] < 0.5


@pytest.mark.parametrize("settings", [{"batch_norm": True}, {"dropout": 0.4}, {"weight_decay": 3}])
def test_each_way_to_regularise_changes_the_fit_and_still_learns(settings):
    X, y = rows(150)
    shared = {"epochs": 30, "learning_rate": 0.01, "units": 32, "dropout": 0.0, "categorical": [2]}
    plain = NetworkRegressor(**shared).fit(X, y)
    model = NetworkRegressor(**{**shared, **settings}).fit(X, y)
    assert np.abs(model.predict(X) - plain.predict(X)).max() > 0.01
    assert np.mean((model.predict(X) - y) ** 2) < 0.8 * np.var(y)
    if "weight_decay" in settings:
        assert np.var(model.predict(X)) < np.var(plain.predict(X))


def test_weight_decay_of_adam_is_a_penalty_and_that_of_adamw_is_not():
    """At the minimum of loss + decay / 2 · Σ w² a straight line is ridge regression."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    x = (x - x.mean()) / x.std()
    y = 2 * x
    network = modules.Mlp(
        n_numbers=1, levels=[], widths=[], n_outputs=1, members=1, **{**LAYERS, "units": 2}
    )
    modules.initialise(network, torch.Generator().manual_seed(0), [0.0])
    for block in network.blocks:  # without its layers the network is the line
        torch.nn.init.zeros_(block[0].weight)
    codes, weight = np.empty((300, 0), np.int64), np.ones(300)
    samples = training.Samples(x[:, None], codes, y, weight)
    decay = 1.0
    plan = TrainingPlan("adam", 0.05, 0.9, decay, "cosine", 300, 300, 1, 0.0)
    training.train(network, samples, np.empty(0, np.intp), plan, "gaussian", 0)
    slope = float(network.straight.weight.detach())
    assert slope == pytest.approx(2 / (1 + decay / 2), abs=1e-3)


def test_members_are_trained_as_if_each_were_alone():
    """But for the vectors of categories, which they share."""
    X, y = rows(60)
    X = X[:, :2]
    samples = training.Samples(X, np.empty((60, 0), np.int64), y, np.ones(60))
    plan = TrainingPlan("adam", 0.01, 0.9, 0.01, "cosine", 20, 3, 1, 0.0)
    shape = {"n_numbers": 2, "levels": [], "widths": [], "n_outputs": 1, **LAYERS}
    both = modules.Mlp(members=2, **shape)
    modules.initialise(both, torch.Generator().manual_seed(0), [0.0])
    alone = [modules.Mlp(members=1, **shape) for _ in range(2)]
    for k, one in enumerate(alone):
        one.load_state_dict({name: v[[k]] for name, v in both.state_dict().items()})
    with one_thread():
        for network in (both, *alone):
            training.train(network, samples, np.empty(0, np.intp), plan, "gaussian", 5)
        numbers = torch.from_numpy(X.astype(np.float32))
        nothing = torch.zeros(60, 0)
        scores = both.scores(numbers, nothing).detach()
        each = torch.cat([one.scores(numbers, nothing).detach() for one in alone])
        mean = both(numbers, nothing).detach()
    assert (scores[0] - scores[1]).abs().max() > 1e-3
    torch.testing.assert_close(scores, each, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(mean, each.mean(dim=0), rtol=1e-4, atol=1e-5)


def test_a_learning_rate_that_diverges_is_an_error_that_says_so():
    X, y = rows(60)
    for settings in ({"optimizer": "sgd", "clip": 0}, {"optimizer": "adam"}):
        with pytest.raises(InputError, match=r"training diverged.*learning_rate=1e\+20.*smaller"):
            NetworkRegressor(learning_rate=1e20, schedule="constant", **settings).fit(X, y)


def test_rows_of_weight_zero_are_as_if_they_were_not_there():
    X, y = rows(80)
    weight = np.repeat([1.0, 0.0], 40)
    settings = {"epochs": 3, "categorical": [2]}
    weighted = NetworkRegressor(**settings).fit(X, y, sample_weight=weight)
    alone = NetworkRegressor(**settings).fit(X[:40], y[:40])
    np.testing.assert_array_equal(weighted.predict(X), alone.predict(X))


def test_a_row_counts_by_its_weight():
    X = np.zeros((400, 1))
    y = np.repeat([0, 1], 200)
    weight = np.where(y == 1, 3.0, 1.0)
    model = NetworkClassifier(epochs=5).fit(X, y, sample_weight=weight)
    assert model.predict_proba([[0.0]])[0, 1] == pytest.approx(0.75, abs=0.02)


@pytest.mark.parametrize("family", ["gaussian", "poisson", "gamma"])
def test_the_unit_of_the_target_does_not_matter(family):
    X, y = rows(100)
    y = np.exp(y)
    settings = {"family": family, "epochs": 4, "categorical": [2]}
    euros = NetworkRegressor(**settings).fit(X, y).predict(X)
    cents = NetworkRegressor(**settings).fit(X, 100 * y).predict(X)
    np.testing.assert_allclose(cents, 100 * euros, rtol=1e-3)
    assert euros.mean() == pytest.approx(y.mean())


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"layers": 0}, "layers=0"),
        ({"units": 2.5}, "units=2.5"),
        ({"dropout": 1.0}, "dropout=1.0"),
        ({"dropout": "half"}, "dropout='half'"),
        ({"optimizer": "lbfgs"}, "optimizer='lbfgs'"),
        ({"schedule": "cosin"}, "did you mean 'cosine'"),
        ({"activation": None}, "activation=None"),
        ({"learning_rate": 0}, "learning_rate=0"),
        ({"learning_rate": float("nan")}, "learning_rate=nan"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"epochs": -1}, "epochs=-1"),
        ({"validation": 0.9, "early_stopping": True}, "validation=0.9"),
        ({"early_stopping": "yes"}, "early_stopping='yes'"),
        ({"batch_norm": 1}, "batch_norm=1"),
        ({"embedding": 0}, "embedding=0"),
        ({"members": 0}, "members=0"),
        ({"family": "tweedie"}, "family='tweedie'"),
        ({"monotone": (1,)}, "monotone="),
    ],
)
def test_settings_that_cannot_be_used_are_named(settings, match):
    X, y = rows(60)
    with pytest.raises(InputError, match=match):
        NetworkRegressor(**{"epochs": 1, **settings}).fit(X, y)


def test_targets_that_a_family_does_not_take_are_refused():
    X, y = rows(30)
    with pytest.raises(InputError, match="family='gamma' needs targets above 0"):
        NetworkRegressor(family="gamma").fit(X, np.maximum(y, 0))
    with pytest.raises(InputError, match="family='poisson' needs targets 0 or more"):
        NetworkRegressor(family="poisson").fit(X, y)
    with pytest.raises(InputError, match="every target is zero"):
        NetworkRegressor(family="poisson").fit(X, 0 * y)
    with pytest.raises(InputError, match="one class only"):
        NetworkClassifier().fit(X, np.zeros(30, int))
