"""Networks as scikit-learn estimators; PyTorch is imported when one is fitted or predicts."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError, Setting, words
from clearwood.files import damaged
from clearwood.models.catalogue.network.plan import (
    OPTIMIZERS,
    SCHEDULES,
    TrainingPlan,
    centre_and_spread,
    checked_grid,
    embedding_widths,
    held_out_rows,
    level_codes,
    positions,
    scaled,
    usual_settings,
)
from clearwood.models.catalogue.network.torch_extra import one_thread, part
from clearwood.models.shared.rows import (
    check_choice,
    check_real,
    check_size,
    check_whole,
    level_counts,
)
from clearwood.models.shared.score_estimators import Scored, ScoredClasses, ScoredNumbers

__all__ = [
    "CnnClassifier",
    "CnnRegressor",
    "NetworkClassifier",
    "NetworkRegressor",
    "TransformerClassifier",
    "TransformerRegressor",
]

ACTIVATIONS = ("relu", "gelu", "silu", "tanh")
_FAMILIES = ("gaussian", "poisson", "gamma")
#: Numbers that the values between two layers may fill when rows are predicted.
_CELLS_AT_ONCE = 2_000_000


#: Functions of tensors that turn scores into means and probabilities.
_LINKS: dict[str, Callable[[Any], Any]] = {
    "identity": lambda score: score,
    "log": lambda score: score.exp(),
    "logistic": lambda score: score.sigmoid(),
    "softmax": lambda score: score.softmax(dim=1),
}


class _Network(Scored):
    """What all networks share: settings of the training, scores, gradients.

    Fitted networks hold plain arrays; a module of PyTorch is put together from them when rows are
    predicted, in double precision.
    """

    categorical: Sequence[int]
    random_state: int
    #: What a row takes between two layers, for the size of batches of predictions.
    _row_size: ClassVar[int] = 1_000
    _is_feed_forward: ClassVar[bool] = False
    #: Standard deviations beyond which numbers are drawn in.
    _far: ClassVar[float] = 3.0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # a missing category is a level; numbers are imputed by the encoder
        tags.input_tags.allow_nan = len(self.categorical) > 0
        return tags

    # Settings

    def _plan(self, n_rows: int) -> tuple[TrainingPlan, float]:
        """Check the settings of the training; also return the share of rows to hold out."""
        classes = min(3, len(getattr(self, "classes_", [0])))
        usual = usual_settings(
            n_rows,
            classes=classes,
            feed_forward=self._is_feed_forward,
            monotone=any(getattr(self, "monotone", ())),
        )
        chosen: Any = {name: getattr(self, name) for name in usual}
        chosen = {name: usual[name] if v is None else v for name, v in chosen.items()}
        if not isinstance(chosen["early_stopping"], bool | np.bool_):
            raise InputError(
                words(
                    Setting("early_stopping", chosen["early_stopping"]), ": it must be yes or no"
                ),
                parameter="early_stopping",
                value=chosen["early_stopping"],
                hint=words("set ", Setting("early_stopping", value=True), "."),
            )
        settings: Any = self
        plan = TrainingPlan(
            optimizer=check_choice("optimizer", settings.optimizer, OPTIMIZERS),
            learning_rate=check_real("learning_rate", settings.learning_rate, 0, strict=True),
            momentum=check_real("momentum", settings.momentum, 0, 0.9999),
            weight_decay=check_real("weight_decay", chosen["weight_decay"], 0),
            schedule=check_choice("schedule", settings.schedule, SCHEDULES),
            batch=check_whole("batch_size", chosen["batch_size"], 1),
            epochs=check_whole("epochs", chosen["epochs"], 1),
            patience=check_whole("patience", settings.patience, 1),
            clip=check_real("clip", settings.clip, 0),
        )
        share = check_real("validation", settings.validation, 0, 0.5, strict=True)
        return plan, share if chosen["early_stopping"] else 0.0

    def _layers(self) -> dict[str, Any]:
        """Check the settings that mlp and cnn share."""
        settings: Any = self
        if not isinstance(settings.batch_norm, bool | np.bool_):
            raise InputError(
                words(Setting("batch_norm", settings.batch_norm), ": it must be yes or no"),
                parameter="batch_norm",
                value=settings.batch_norm,
                hint=words("set ", Setting("batch_norm", value=True), "."),
            )
        return {
            "layers": check_whole("layers", settings.layers, 1, 20),
            "units": check_whole("units", settings.units, 2, 4096),
            "activation": check_choice("activation", settings.activation, ACTIVATIONS),
            "dropout": check_real("dropout", settings.dropout, 0, 0.95),
            "batch_norm": bool(settings.batch_norm),
        }

    # Training

    def _learn_inputs(self, rows: Floats, weight: Floats) -> None:
        """Learn the scale of numbers and the levels of categories."""
        numbers, held = positions(self.categorical, rows.shape[1])
        self._check_gaps(rows)
        self.centre_, self.spread_ = centre_and_spread(rows[:, numbers], weight)
        self.levels_ = level_counts(rows, self.categorical)[held].astype(np.int64)

    def _inputs(self, rows: Floats) -> tuple[Floats, NDArray[np.int64]]:
        """Return the numbers and codes of rows as the network takes them."""
        numbers, held = positions(self.categorical, rows.shape[1])
        self._check_gaps(rows)
        values: Floats = scaled(rows[:, numbers], self.centre_, self.spread_, self._far)
        return values, level_codes(rows[:, held], self.levels_.tolist())

    def _check_gaps(self, rows: Floats) -> None:
        numbers, _ = positions(self.categorical, rows.shape[1])
        gaps = np.isnan(rows[:, numbers]).any(axis=0)
        if gaps.any():
            raise InputError(
                f"Input X contains NaN: column {int(numbers[gaps.argmax()])} of numbers has "
                "missing values",
                parameter="X",
                hint="fill them and add an indicator; learners of the catalogue do so themselves.",
            )

    def _network(self, modules: Any, n_outputs: int) -> Any:
        """Put the module together; its weights are not set."""
        raise NotImplementedError

    def _train(
        self,
        rows: Floats,
        target: Floats,
        weight: Floats,
        *,
        family: str,
        start: Sequence[float],
        classes: NDArray[Any] | None = None,
    ) -> Self:
        """Fit the network to prepared targets."""
        modules, training = part("modules"), part("training")
        import torch

        if len(rows) < 2:
            raise InputError(
                f"a network needs 2 rows or more, and there is {len(rows)} sample",
                parameter="data",
            )
        plan, share = self._plan(len(rows))
        seed = check_whole("random_state", self.random_state, 0)
        self._learn_inputs(rows, weight)
        values, codes = self._inputs(rows)
        held_out: Index = np.empty(0, np.intp)
        if share:
            held_out = held_out_rows(len(rows), share, classes, seed)
        samples = training.Samples(values, codes, target, weight / weight.mean())
        network = self._network(modules, len(start))
        with one_thread():
            modules.initialise(network, torch.Generator().manual_seed(seed), start)
            curve = training.train(network, samples, held_out, plan, family, seed + 1)
            network.settle_unseen(self._level_shares(torch, codes, weight))
        self.arrays_ = {name: value.numpy() for name, value in network.state_dict().items()}
        self.n_outputs_ = len(start)
        self.family_ = family
        self.curve_ = {
            "training": curve.training,
            "validation": curve.validation,
            "learning_rate": curve.learning_rate,
        }
        self.best_epoch_ = curve.best + 1
        self.n_held_out_ = len(held_out)
        self.n_weights_ = sum(int(value.size) for value in self.arrays_.values())
        return self

    def _level_shares(self, torch: Any, codes: NDArray[np.int64], weight: Floats) -> list[Any]:
        """Return the share of rows of each level; None where training rows had missing ones."""
        result: list[Any] = []
        for k, n in enumerate(self.levels_.tolist()):
            counts = np.bincount(codes[:, k], weight, n + 1)
            shares = torch.tensor(counts[:n] / max(counts[:n].sum(), 1e-300), dtype=torch.float32)
            result.append(None if counts[n] else shares)
        return result

    # Scores and gradients

    def _matrix(self, X: ArrayLike, *, reset: bool = False) -> Floats:
        """Check rows to predict."""
        if not reset:
            check_is_fitted(self, "arrays_")
        matrix: Floats = validate_data(
            self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan"
        )
        return matrix

    def _fitted(self) -> Any:
        """Put the fitted network together from its arrays, in double precision."""
        modules = part("modules")
        import torch

        network = self._network(modules, self.n_outputs_)
        try:
            state = {name: torch.from_numpy(np.array(one)) for name, one in self.arrays_.items()}
            network.load_state_dict(state)
        except (RuntimeError, TypeError) as error:
            raise damaged(f"the arrays of this network do not fit together: {error}") from error
        return network.double().eval()

    def _blocks(self, matrix: Floats) -> Iterator[tuple[slice, Any, Any]]:
        """Yield rows in blocks as tensors: their positions, numbers and codes."""
        import torch

        size = max(1, _CELLS_AT_ONCE // self._row_size)
        for first in range(0, len(matrix), size):
            rows = slice(first, min(first + size, len(matrix)))
            values, codes = self._inputs(matrix[rows])
            yield rows, torch.from_numpy(np.ascontiguousarray(values)), torch.from_numpy(codes)

    def _score(self, X: ArrayLike) -> Floats:
        """Compute the score of rows, of shape (rows, outputs)."""
        matrix = self._matrix(X)
        network = self._fitted()
        import torch

        result = np.empty((len(matrix), self.n_outputs_))
        with one_thread(), torch.no_grad():
            for rows, numbers, codes in self._blocks(matrix):
                result[rows] = network(numbers, network.embed(codes)).numpy()
        score: Floats = self._unstandardised(result)
        return score

    def _unstandardised(self, result: Any) -> Any:
        """Bring what the network computes, an array or a tensor, to the scale of the score."""
        return self.shift_ + self.scale_ * result

    shift_: float = 0.0
    scale_: float = 1.0
    link_: str

    def margin(self, X: ArrayLike) -> Floats:
        """Compute the score before the link, of shape (rows, outputs)."""
        return self._score(X)

    def path_values(
        self, start: Floats, end: Floats, points: Floats, output: int, *, link: bool
    ) -> Floats:
        """Compute an output at points of the straight line between two rows.

        Parameters
        ----------
        start, end
            The rows, of shape (1, columns).
        points
            From 0 at the start to 1 at the end.
        output
            Which of the outputs.
        link
            Whether the link is applied: probabilities and means rather than scores.
        """
        return np.concatenate(
            [one.detach().numpy() for one, _, _ in self._along(start, end, points, output, link)]
        )

    def path_gradients(
        self, start: Floats, end: Floats, points: Floats, output: int, *, link: bool
    ) -> Floats:
        """Compute gradients at points of the line, times the way that each column goes.

        The line is straight in what the network takes: standardised numbers, vectors of
        categories. Parameters are those of `path_values`.

        Returns
        -------
        ndarray of shape (points, columns)
        """
        import torch

        parts = []
        for value, inputs, ways in self._along(start, end, points, output, link):
            slopes = torch.autograd.grad(value.sum(), inputs, allow_unused=True)
            each = [
                np.zeros(tuple(one.shape)) if slope is None else (slope * way).numpy()
                for one, slope, way in zip(inputs, slopes, ways, strict=True)
            ]
            parts.append(self._by_column(*each))
        return np.concatenate(parts)

    def _along(
        self,
        start: Floats,
        end: Floats,
        points: Floats,
        output: int,
        link: bool,  # noqa: FBT001
    ) -> Iterator[tuple[Any, tuple[Any, Any], tuple[Any, Any]]]:
        """Yield values at blocks of points, the inputs there, and the way from start to end."""
        network = self._fitted()
        import torch

        both = np.vstack([self._matrix(start), self._matrix(end)])
        size = max(1, _CELLS_AT_ONCE // self._row_size)
        with one_thread():
            numbers, codes = self._inputs(both)
            with torch.no_grad():
                embedded = network.embed(torch.from_numpy(codes))
            ends = (torch.from_numpy(np.ascontiguousarray(numbers)), embedded)
            ways = tuple(one[1:] - one[:1] for one in ends)
            for first in range(0, len(points), size):
                at = torch.from_numpy(points[first : first + size])[:, None]
                inputs = tuple(
                    (one[:1] + at * way).requires_grad_()
                    for one, way in zip(ends, ways, strict=True)
                )
                score = self._unstandardised(network(*inputs))
                if link:
                    score = _LINKS[self.link_](score)
                yield score[:, output], (inputs[0], inputs[1]), (ways[0], ways[1])

    def _by_column(self, numbers: Floats, embedded: Floats) -> Floats:
        """Add up what belongs to one encoded column."""
        at, held = positions(self.categorical, self.n_features_in_)
        result = np.zeros((len(numbers), self.n_features_in_))
        # indicators of missing cells follow the cells
        result[:, at] = numbers.reshape(len(numbers), -1, len(at)).sum(axis=1)
        if len(held):
            widths = [self.arrays_[f"embeddings.{k}.weight"].shape[1] for k in range(len(held))]
            for column, part in zip(
                held, np.split(embedded, np.cumsum(widths)[:-1], axis=1), strict=True
            ):
                result[:, column] = part.sum(axis=1)
        return result


class _Numbers(ScoredNumbers):
    """A network for numbers: identity link, or log link for counts and amounts."""

    family: str | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.family in ("poisson", "gamma")
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train the network."""
        network: Any = self
        family = check_choice("family", self.family or "gaussian", _FAMILIES)
        rows, target, weight = self._numbers(X, y, sample_weight)
        check_size(target, weight)
        mean = float(np.average(target, weights=weight))
        if family == "gaussian":
            spread = float(np.sqrt(np.average((target - mean) ** 2, weights=weight)))
            self.shift_, self.scale_ = mean, spread if spread > 0 else 1.0
            prepared = (target - self.shift_) / self.scale_
        else:
            _check_positive(target, strict=family == "gamma")
            self.shift_, self.scale_ = float(np.log(mean)), 1.0
            prepared = target / mean
        self.link_ = "identity" if family == "gaussian" else "log"
        network._train(rows, prepared, weight, family=family, start=[0.0])  # noqa: SLF001 - itself
        # predictions of the training rows add up to what was observed (Wüthrich 2020)
        fitted = float(np.average(self.predict(rows), weights=weight))
        self.shift_ += mean - fitted if family == "gaussian" else float(np.log(mean / fitted))
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """Predict the mean."""
        score = self._score(X)[:, 0]
        return score if self.link_ == "identity" else np.exp(score)


class _Classes(ScoredClasses):
    """A network for classes: log odds of the second of two, else a score for each."""

    family: str | None

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train the network."""
        network: Any = self
        check_choice("family", self.family or "binomial", ["binomial"])
        rows, codes, weight = self._classes(X, y, sample_weight)
        shares = np.log(np.bincount(codes, weight) / weight.sum())
        is_two = len(self.classes_) == 2
        start = [shares[1] - shares[0]] if is_two else (shares - shares.mean()).tolist()
        self.link_ = "logistic" if is_two else "softmax"
        network._train(  # noqa: SLF001 - itself
            rows,
            codes.astype(np.float64),
            weight,
            family="binomial" if is_two else "multinomial",
            start=start,
            classes=codes,
        )
        return self


def _check_positive(target: Floats, *, strict: bool) -> None:
    """Refuse targets that the deviance of the family does not take."""
    least = float(target.min())
    if least < 0 or (strict and least == 0):
        family, bound = ("gamma", "above 0") if strict else ("poisson", "0 or more")
        raise InputError(
            words(
                Setting("family", family), f" needs targets {bound}, and the smallest is {least:g}"
            ),
            parameter="target",
            value=least,
            hint=words(
                "set ",
                Setting("family", "poisson" if strict and least == 0 else "gaussian"),
                " for these.",
            ),
        )
    if not target.any():
        raise InputError(
            "every target is zero", parameter="target", hint="there is nothing to learn."
        )


class _Mlp(_Network):
    """A feed-forward network, with or without constraints on directions."""

    _is_feed_forward = True
    # closer to the data a straight line would bend, which few rows do not mend
    _far = 10.0

    def __init__(
        self,
        *,
        family: str | None = None,
        layers: int = 2,
        units: int = 64,
        activation: str = "silu",
        dropout: float = 0.0,
        batch_norm: bool = False,
        embedding: int | None = None,
        members: int = 4,
        optimizer: str = "adam",
        learning_rate: float = 1e-2,
        momentum: float = 0.9,
        weight_decay: float | None = None,
        schedule: str = "cosine",
        batch_size: int | None = None,
        epochs: int | None = None,
        early_stopping: bool | None = None,
        validation: float = 0.15,
        patience: int = 30,
        clip: float = 1.0,
        monotone: Sequence[int] = (),
        categorical: Sequence[int] = (),
        random_state: int = 0,
    ) -> None:
        self.family = family
        self.layers = layers
        self.units = units
        self.activation = activation
        self.dropout = dropout
        self.batch_norm = batch_norm
        self.embedding = embedding
        self.members = members
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.schedule = schedule
        self.batch_size = batch_size
        self.epochs = epochs
        self.early_stopping = early_stopping
        self.validation = validation
        self.patience = patience
        self.clip = clip
        self.monotone = monotone
        self.categorical = categorical
        self.random_state = random_state

    def _network(self, modules: Any, n_outputs: int) -> Any:
        settings: Any = self
        width = settings.embedding
        if width is not None:
            width = check_whole("embedding", width, 1, 1024)
        levels = self.levels_.tolist()
        shared = {
            "levels": levels,
            "widths": embedding_widths(levels, width),
            "members": check_whole("members", settings.members, 1, 100),
            **self._layers(),
        }
        numbers, _ = positions(self.categorical, self.n_features_in_)
        directions = np.asarray(settings.monotone or np.zeros(self.n_features_in_), np.intp)
        if len(directions) != self.n_features_in_ or not set(directions.tolist()) <= {-1, 0, 1}:
            raise InputError(
                words(Setting("monotone", settings.monotone), ": it must be -1, 0 or 1 a column"),
                parameter="monotone",
                value=settings.monotone,
            )
        if not directions.any():
            return modules.Mlp(n_numbers=len(numbers), n_outputs=n_outputs, **shared)
        held = np.delete(directions, numbers)
        if held.any() or n_outputs > 1:
            what = "a category" if held.any() else "one of several classes"
            raise InputError(
                f"predictions of {what} have no order to rise or fall with",
                parameter="monotone",
                value=settings.monotone,
            )
        return modules.MonotoneMlp(directions=directions[numbers].tolist(), **shared)


class NetworkRegressor(_Numbers, _Mlp):
    """A feed-forward network for numbers, counts and amounts.

    Numbers are standardised (columns of two values are not: those end one apart) and far values
    drawn in; each level of a category has a vector that is learned with the rest (an entity
    embedding: Guo and Berkhahn 2016). The loss is the squared error, or the Poisson or gamma
    deviance with a log link.

    Parameters
    ----------
    family
        "gaussian" (when None), "poisson" or "gamma".
    layers, units
        Number of hidden layers, and the width of each.
    activation
        "relu", "gelu", "silu" or "tanh".
    dropout
        Share of the hidden units that are left out of each training step.
    batch_norm
        Whether the units are standardised over each batch.
    embedding
        Length of the vectors of categories; half the number of levels, 2 to 16, when None.
    members
        Networks that are trained side by side from other random starts, and whose mean score
        predicts; they share the vectors of categories.
    optimizer, learning_rate, momentum, weight_decay
        "adam" or "sgd" (with Nesterov's momentum), where the weight decay is a penalty, half of it
        times the sum of squared weights; or "adamw", where each step shrinks the weights by that
        share of the learning rate. A weight decay of None is 0.01, from 500 rows on 5 / rows. For
        "adam" and "adamw" the momentum is the decay of the mean gradient.
    schedule
        How the learning rate goes on: "constant", "cosine" (a short rise, then down to zero),
        "step" (halved five times) or "plateau" (halved where the loss stands still).
    batch_size, epochs
        Rows of one step, and passes over the rows; by the number of rows when None.
    early_stopping, validation, patience
        Whether training ends once ``patience`` epochs did not lower the loss of a share of the
        rows that is held out, and goes back to the best epoch; when None, from 1,000 rows on, for
        two classes from 200.
    clip
        The largest length of a gradient; 0 for no limit.
    monotone
        1, -1 or 0 for each column: predictions rise or fall with it, whatever the others are.
    categorical
        Positions of the columns that hold category codes.
    random_state
        Fixes the weights at the start, the order of rows, dropout and the rows held out.

    Attributes
    ----------
    arrays_ : dict of str to ndarray
        Every weight, by its name.
    curve_ : dict of str to ndarray
        Loss of training and held-out rows and the learning rate, for each epoch.
    best_epoch_, n_held_out_, n_weights_ : int
        The epoch whose weights are kept, from 1 on; rows that were held out; numbers learned.
    link_ : str

    Notes
    -----
    After training a constant is added to the score, so that the mean prediction of the training
    rows is the mean of their targets; training that stops early would leave it off by some per
    cent.

    Training is in single precision and on one thread, predictions in double precision: the same
    seed gives the same network, whatever the number of cores.

    Examples
    --------
    >>> X = np.linspace(-1, 1, 200)[:, None]
    >>> model = NetworkRegressor(epochs=30).fit(X, np.abs(X[:, 0]))
    >>> model.predict([[-0.5], [0.5]]).round(1)
    array([0.5, 0.5])
    """


class NetworkClassifier(_Classes, _Mlp):
    """A feed-forward network for classes.

    Parameters and attributes are those of `NetworkRegressor`, and ``classes_``; the loss is the log
    loss, and ``family`` is None or "binomial".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> NetworkClassifier(epochs=20).fit(X, y).predict(X[::50])
    array([0, 1, 2])
    """


class _Transformer(_Network):
    """Attention over columns."""

    _row_size = 20_000

    def __init__(
        self,
        *,
        family: str | None = None,
        layers: int = 2,
        width: int = 32,
        heads: int = 4,
        dropout: float = 0.1,
        optimizer: str = "adamw",
        learning_rate: float = 1e-3,
        momentum: float = 0.9,
        weight_decay: float = 0.01,
        schedule: str = "cosine",
        batch_size: int | None = None,
        epochs: int | None = None,
        early_stopping: bool | None = None,
        validation: float = 0.15,
        patience: int = 30,
        clip: float = 1.0,
        owners: Sequence[int] = (),
        categorical: Sequence[int] = (),
        random_state: int = 0,
    ) -> None:
        self.family = family
        self.layers = layers
        self.width = width
        self.heads = heads
        self.dropout = dropout
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.schedule = schedule
        self.batch_size = batch_size
        self.epochs = epochs
        self.early_stopping = early_stopping
        self.validation = validation
        self.patience = patience
        self.clip = clip
        self.owners = owners
        self.categorical = categorical
        self.random_state = random_state

    def _network(self, modules: Any, n_outputs: int) -> Any:
        numbers, held = positions(self.categorical, self.n_features_in_)
        owners = np.asarray(self._owners(), np.intp)
        width = check_whole("width", self.width, 2, 4096)
        heads = check_whole("heads", self.heads, 1, 256)
        if width % heads:
            raise InputError(
                words(Setting("width", width), " is not a multiple of ", Setting("heads", heads)),
                parameter="width",
                value=width,
                hint=words("set ", Setting("width", heads * max(1, width // heads)), "."),
            )
        return modules.Transformer(
            owners=owners[numbers].tolist(),
            category_owners=owners[held].tolist(),
            n_columns=int(owners.max()) + 1,
            levels=self.levels_.tolist(),
            n_outputs=n_outputs,
            layers=check_whole("layers", self.layers, 1, 20),
            width=width,
            heads=heads,
            dropout=check_real("dropout", self.dropout, 0, 0.95),
        )

    def _owners(self) -> Sequence[int]:
        """Return the column of the table that each encoded column is made from."""
        owners = list(self.owners) or list(range(self.n_features_in_))
        if len(owners) != self.n_features_in_ or min(owners) < 0:
            raise InputError(
                words(
                    Setting("owners", self.owners),
                    ": it must have a number of 0 or more for each column",
                ),
                parameter="owners",
                value=self.owners,
            )
        return owners

    def attention(self, X: ArrayLike) -> Floats:
        """Compute the weights of attention, the mean over rows.

        Returns
        -------
        ndarray of shape (layers, heads, columns + 1, columns + 1)
            How much the vector of each column (third axis) takes from each (fourth axis); the last
            is the one that the prediction is read from. Each row sums to 1.
        """
        matrix = self._matrix(X)
        network = self._fitted()
        import torch

        total: Any = 0.0
        with one_thread(), torch.no_grad():
            for _, numbers, codes in self._blocks(matrix):
                _, weights = network.attend(numbers, network.embed(codes))
                total = total + torch.stack(weights).sum(dim=1).numpy()
        return np.asarray(total / len(matrix))


class TransformerRegressor(_Numbers, _Transformer):
    """Attention over the columns of a table, for numbers, counts and amounts.

    Each column becomes a vector: numbers times a learned vector plus another, categories by
    embedding. Layers of attention mix the vectors, and the prediction is read from one more that
    belongs to no column (the FT-Transformer: Gorishniy and others 2021).

    Parameters
    ----------
    layers, width, heads
        Number of blocks, length of the vectors, and parts that attend separately; the width is a
        multiple of the heads.
    owners
        The table's column that each encoded column is made from, from 0 on; each its own when
        empty.
    family, dropout, optimizer, learning_rate, momentum, weight_decay, schedule
        As of `NetworkRegressor`.
    batch_size, epochs, early_stopping, validation, patience, clip, categorical, random_state
        As of `NetworkRegressor`; the rows of any classes are held out from 200 on.

    Attributes
    ----------
    arrays_, curve_, best_epoch_, n_held_out_, n_weights_, link_
        As of `NetworkRegressor`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2))
    >>> model = TransformerRegressor(width=8, heads=2, epochs=20).fit(X, X[:, 0])
    >>> model.attention(X).shape
    (2, 2, 3, 3)
    """


class TransformerClassifier(_Classes, _Transformer):
    """Attention over the columns of a table, for classes.

    Parameters and attributes are those of `TransformerRegressor`, and ``classes_``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> TransformerClassifier(width=8, heads=2, epochs=2).fit(X, y).predict_proba(X).shape
    (150, 3)
    """


class _Cnn(_Network):
    """Convolution over columns that form a grid."""

    _row_size = 20_000

    def __init__(
        self,
        *,
        family: str | None = None,
        grid: Any = None,
        layers: int = 2,
        units: int = 16,
        activation: str = "silu",
        dropout: float = 0.1,
        batch_norm: bool = True,
        optimizer: str = "adamw",
        learning_rate: float = 3e-3,
        momentum: float = 0.9,
        weight_decay: float = 0.01,
        schedule: str = "cosine",
        batch_size: int | None = None,
        epochs: int | None = None,
        early_stopping: bool | None = None,
        validation: float = 0.15,
        patience: int = 30,
        clip: float = 1.0,
        cells: Sequence[int] | None = None,
        categorical: Sequence[int] = (),
        random_state: int = 0,
    ) -> None:
        self.family = family
        self.grid = grid
        self.layers = layers
        self.units = units
        self.activation = activation
        self.dropout = dropout
        self.batch_norm = batch_norm
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.schedule = schedule
        self.batch_size = batch_size
        self.epochs = epochs
        self.early_stopping = early_stopping
        self.validation = validation
        self.patience = patience
        self.clip = clip
        self.cells = cells
        self.categorical = categorical
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def cells_of_columns(self) -> tuple[tuple[int, int], list[int]]:
        """Return the shape of the grid, and the cell of each column."""
        if len(self.categorical):
            raise InputError(
                "the cells of a grid must be numbers, and there are categories",
                parameter="grid",
                hint="leave categories out, or use the learner 'network'.",
            )
        cells = list(range(self.n_features_in_)) if self.cells is None else list(self.cells)
        has_gaps = self.cells is not None and isinstance(self.grid, tuple)
        size = int(np.prod(self.grid)) if has_gaps else self.n_features_in_
        shape = checked_grid(self.grid, size)
        if len(set(cells)) != self.n_features_in_ or min(cells) < 0 or max(cells) >= size:
            raise InputError(
                words(
                    Setting("cells", self.cells),
                    f": it must have a number below {size} for each column, none twice",
                ),
                parameter="cells",
                value=self.cells,
            )
        return shape, cells

    def _network(self, modules: Any, n_outputs: int) -> Any:
        shape, cells = self.cells_of_columns()
        return modules.Cnn(
            shape=shape,
            cells=cells,
            channels=1 + self.has_gaps_,
            n_outputs=n_outputs,
            **self._layers(),
        )

    def _learn_inputs(self, rows: Floats, weight: Floats) -> None:
        """Learn one scale for all cells, so that neighbours can be compared."""
        self.cells_of_columns()
        known = ~np.isnan(rows)
        if not known.any():
            raise InputError("every cell is missing in every row", parameter="data")
        share = known * weight[:, None]
        share = share / share.sum()
        filled = np.where(known, rows, 0.0)
        mean = float((share * filled).sum())
        spread = float(np.sqrt((share * (filled - mean) ** 2).sum()))
        self.centre_, self.spread_ = np.array([mean]), np.array([spread if spread > 0 else 1.0])
        self.levels_ = np.empty(0, np.int64)
        self.has_gaps_ = bool(not known.all())

    def _inputs(self, rows: Floats) -> tuple[Floats, NDArray[np.int64]]:
        gaps = np.isnan(rows)
        values: Floats = scaled(
            np.where(gaps, self.centre_, rows), self.centre_, self.spread_, self._far
        )
        if self.has_gaps_:
            values = np.concatenate([values, gaps], axis=1)
        return values, np.empty((len(rows), 0), np.int64)


class CnnRegressor(_Numbers, _Cnn):
    """Convolutions over columns that form a grid, for numbers, counts and amounts.

    Each layer slides small windows over the grid, so what is learned in one place holds in all. All
    cells have one scale. Missing cells are filled with the mean and marked in a grid of their own.

    Parameters
    ----------
    grid
        Rows and columns of the grid, which the columns fill row by row; a square when None.
    layers, units
        Number of convolutions, and how many windows the first one has; each next one has twice as
        many.
    cells
        The cell of each column, counted row by row from 0; in order when None.
    family, activation, dropout, batch_norm, optimizer, learning_rate, momentum, weight_decay
        As of `NetworkRegressor`.
    schedule, batch_size, epochs, early_stopping, validation, patience, clip, random_state
        As of `TransformerRegressor`.
    categorical
        None may be given: cells are numbers.

    Attributes
    ----------
    arrays_, curve_, best_epoch_, n_held_out_, n_weights_, link_
        As of `NetworkRegressor`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 16))
    >>> model = CnnRegressor(grid=(4, 4), units=4, epochs=5).fit(X, X.max(axis=1))
    >>> model.predict(X).shape
    (60,)
    """


class CnnClassifier(_Classes, _Cnn):
    """Convolutions over columns that form a grid, for classes.

    Parameters and attributes are those of `CnnRegressor`, and ``classes_``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 16))
    >>> model = CnnClassifier(grid=(4, 4), units=4, epochs=5).fit(X, X[:, 0] > 0)
    >>> model.predict_proba(X).shape
    (60, 2)
    """
