"""The networks themselves, as modules of PyTorch; nothing here draws from its global generator.

Every network maps the same two things to scores: numbers, of shape (rows, numbers), and the
embedded categories, (rows, width), which `Embedded.embed` looks up. Keeping the lookup apart lets
gradients be taken with respect to what a category is embedded as.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import skip_init

__all__ = [
    "Cnn",
    "Embedded",
    "Mlp",
    "MonotoneMlp",
    "Transformer",
    "initialise",
    "use_generator",
]

ACTIVATIONS: dict[str, Any] = {
    "relu": torch.relu,
    "gelu": nn.functional.gelu,
    "silu": nn.functional.silu,
    "tanh": torch.tanh,
}


def initialise(network: nn.Module, generator: torch.Generator, start: Sequence[float]) -> None:
    """Draw every weight; the output begins as the constant ``start``, whatever the inputs are."""
    with torch.no_grad():
        for module in network.modules():
            if isinstance(module, Linear | Linears | nn.Conv2d):
                is_several = isinstance(module, Linears)
                fan_in = module.weight.shape[2] if is_several else module.weight[0].numel()
                # He's range: the spread of the signal stays the same from layer to layer
                limit = math.sqrt(6 / max(fan_in, 1))
                module.weight.uniform_(-limit, limit, generator=generator)
                if module.bias is not None:
                    module.bias.zero_()
            elif isinstance(module, nn.Embedding):
                module.weight.normal_(0.0, 1 / math.sqrt(module.embedding_dim), generator=generator)
            elif isinstance(module, NonNegative | Tokens):
                module.draw(generator)
        head: Any = network.head
        head.weight.zero_()
        straight = getattr(network, "straight", None)
        if isinstance(straight, Linears):
            straight.weight.zero_()
        head.bias.copy_(torch.tensor(start))


def use_generator(network: nn.Module, generator: torch.Generator) -> None:
    """Let dropout draw from a generator."""
    for module in network.modules():
        if isinstance(module, Dropout):
            module.generator = generator


class Dropout(nn.Module):
    """Set a share of the values to zero while training, drawn from a generator of its own."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share
        self.generator: torch.Generator | None = None

    def forward(self, values: Tensor) -> Tensor:
        """Drop values."""
        if not self.training or self.share == 0:
            return values
        draws = torch.rand(values.shape, generator=self.generator)
        return values * (draws >= self.share) / (1 - self.share)


class Activation(nn.Module):
    """A function of each value, by its name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.apply_to = ACTIVATIONS[name]

    def forward(self, values: Tensor) -> Tensor:
        """Apply it."""
        result: Tensor = self.apply_to(values)
        return result


class Linear(nn.Module):
    """Sums of multiples, plus constants; PyTorch's own draws from its global generator."""

    def __init__(self, n_in: int, n_out: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_out, n_in))
        self.bias = nn.Parameter(torch.zeros(n_out))

    def forward(self, values: Tensor) -> Tensor:
        """Compute sums."""
        return nn.functional.linear(values, self.weight, self.bias)


class Linears(nn.Module):
    """Several linear layers side by side, one for each member: (members, rows, inputs)."""

    def __init__(self, members: int, n_in: int, n_out: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(members, n_out, n_in))
        self.bias = nn.Parameter(torch.zeros(members, n_out))

    def forward(self, values: Tensor) -> Tensor:
        """Compute sums."""
        return torch.baddbmm(self.bias[:, None], values, self.weight.mT)


class Norms(nn.Module):
    """Standardise the units of each member over the rows of a batch."""

    def __init__(self, members: int, units: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(members * units)

    def forward(self, values: Tensor) -> Tensor:
        """Standardise (members, rows, units)."""
        members, n, units = values.shape
        flat: Tensor = self.norm(values.transpose(0, 1).reshape(n, members * units))
        return flat.view(n, members, units).transpose(0, 1)


class Embedded(nn.Module):
    """What networks with categories share: a vector for each level.

    Parameters
    ----------
    levels
        The number of levels of each category; one more vector is for missing and unseen ones.
    widths
        The length of the vectors of each category.
    """

    def __init__(self, levels: Sequence[int], widths: Sequence[int]) -> None:
        super().__init__()
        self.embeddings = nn.ModuleList(
            skip_init(nn.Embedding, n + 1, width) for n, width in zip(levels, widths, strict=True)
        )
        self.widths = list(widths)

    def embed(self, codes: Tensor) -> Tensor:
        """Look the vectors of categories up, side by side."""
        if not self.widths:
            return torch.zeros(len(codes), 0, dtype=next(self.parameters()).dtype)
        return torch.cat([one(codes[:, k]) for k, one in enumerate(self.embeddings)], dim=1)

    def scores(self, numbers: Tensor, embedded: Tensor) -> Tensor:
        """Compute the scores of each member: (members, rows, outputs)."""
        raise NotImplementedError

    def forward(self, numbers: Tensor, embedded: Tensor) -> Tensor:
        """Compute the mean score of the members: (rows, outputs)."""
        return self.scores(numbers, embedded).mean(dim=0)

    def settle_unseen(self, known: Sequence[Tensor | None]) -> None:
        """Give unseen levels the mean vector, where training rows had no missing value.

        ``known`` has the share of rows of each level, or None where the last vector was learned.
        """
        with torch.no_grad():
            for one, shares in zip(self.embeddings, known, strict=True):
                if shares is not None:
                    one.weight[-1] = shares @ one.weight[:-1]


def _layer(members: int, n_in: int, units: int, settings: dict[str, Any]) -> nn.Sequential:
    """Put one hidden layer of every member together."""
    steps: list[nn.Module] = [Linears(members, n_in, units)]
    if settings["batch_norm"]:
        steps.append(Norms(members, units))
    steps += [Activation(settings["activation"]), Dropout(settings["dropout"])]
    return nn.Sequential(*steps)


class Mlp(Embedded):
    """Layers of equal width, each linear with a function of each value after it.

    The inputs also go straight to the output, so that the layers have to learn only what is not
    linear (Cheng and others 2016). Members are such networks side by side, which share nothing but
    the vectors of categories; as the mean of their scores predicts, what one of them owes to its
    random start weighs little (Gorishniy, Kotelnikov and Babenko 2025).
    """

    def __init__(
        self,
        *,
        n_numbers: int,
        levels: Sequence[int],
        widths: Sequence[int],
        n_outputs: int,
        members: int,
        layers: int,
        units: int,
        **settings: Any,
    ) -> None:
        super().__init__(levels, widths)
        self.members = members
        n_inputs = n_numbers + sum(widths)
        sizes = [n_inputs] + [units] * (layers - 1)
        self.blocks = nn.ModuleList(_layer(members, n_in, units, settings) for n_in in sizes)
        self.head = Linears(members, units, n_outputs)
        self.straight = Linears(members, n_inputs, n_outputs)

    def scores(self, numbers: Tensor, embedded: Tensor) -> Tensor:
        """Compute the scores of each member."""
        inputs = torch.cat([numbers, embedded], dim=1).expand(self.members, -1, -1)
        hidden = inputs
        for block in self.blocks:
            hidden = block(hidden)
        scores: Tensor = self.head(hidden) + self.straight(inputs)
        return scores


class NonNegative(nn.Module):
    """Linear layers, one for each member, whose weights are squares: no output falls."""

    def __init__(self, members: int, n_in: int, n_out: int, *, constant: bool = True) -> None:
        super().__init__()
        self.root = nn.Parameter(torch.empty(members, n_out, n_in))
        self.bias = nn.Parameter(torch.zeros(members, n_out)) if constant else None

    def draw(self, generator: torch.Generator) -> None:
        """Draw weights of which few are large, so that units differ, and constants over the range.

        Weights of equal size would make every unit the same mean of its inputs.
        """
        with torch.no_grad():
            self.root.uniform_(0.0, 1.0, generator=generator)
            # the mean of the sixth power of a uniform number is 1/7: weights sum to 1 on average
            self.root.copy_(self.root**3 * math.sqrt(7 / max(self.root.shape[2], 1)))
            if self.bias is not None:
                self.bias.uniform_(-1.5, 1.5, generator=generator)

    def forward(self, values: Tensor) -> Tensor:
        """Compute sums."""
        sums = values @ self.root.square().mT
        return sums if self.bias is None else sums + self.bias[:, None]


class MonotoneMlp(Embedded):
    """A network that never falls with some of its numbers, whatever the others are.

    Free columns go through ordinary layers. The constrained ones, times their direction, go
    through layers of their own with weights that are squares, and functions that never fall; the
    free layers only add to what enters them. A sum of non-negative multiples of functions that
    never fall never falls, layer after layer. Half of the units use ELU, half its reflection
    -ELU(-x): with one of them alone the network could be convex only (Runje and Shankaranarayana
    2023).
    """

    def __init__(
        self,
        *,
        directions: Sequence[int],
        levels: Sequence[int],
        widths: Sequence[int],
        members: int,
        layers: int,
        units: int,
        **settings: Any,
    ) -> None:
        super().__init__(levels, widths)
        self.members = members
        self.held = [j for j, direction in enumerate(directions) if direction]
        self.free = [j for j, direction in enumerate(directions) if not direction]
        signs = torch.tensor([float(directions[j]) for j in self.held])
        self.register_buffer("signs", signs, persistent=False)
        n_free = len(self.free) + sum(widths)
        n_held = len(self.held)
        units_held = max(4, units // 2)
        self.blocks = nn.ModuleList()
        self.rising = nn.ModuleList()
        self.entering = nn.ModuleList()
        for _ in range(layers):
            self.blocks.append(_layer(members, n_free, units, settings))
            n_free = units
            self.rising.append(NonNegative(members, n_held, units_held))
            self.entering.append(Linears(members, units, units_held))
            n_held = units_held
        self.straight = NonNegative(members, len(self.held), 1, constant=False)
        self.last = NonNegative(members, n_held, 1, constant=False)
        self.head = Linears(members, n_free, 1)

    def scores(self, numbers: Tensor, embedded: Tensor) -> Tensor:
        """Compute the scores of each member."""
        signed = (numbers[:, self.held] * self.signs).expand(self.members, -1, -1)
        free = torch.cat([numbers[:, self.free], embedded], dim=1).expand(self.members, -1, -1)
        held = signed
        for block, rising, entering in zip(self.blocks, self.rising, self.entering, strict=True):
            free = block(free)
            convex, concave = (rising(held) + entering(free)).chunk(2, dim=2)
            elu = nn.functional.elu
            held = torch.cat([elu(convex), -elu(-concave)], dim=2)
        scores: Tensor = self.head(free) + self.straight(signed) + self.last(held)
        return scores


class Tokens(nn.Module):
    """A vector for each column of the table, from the numbers that it is made of."""

    def __init__(self, owners: Sequence[int], n_columns: int, width: int) -> None:
        super().__init__()
        self.owners = list(owners)
        self.weight = nn.Parameter(torch.empty(len(owners), width))
        self.bias = nn.Parameter(torch.empty(n_columns + 1, width))

    def draw(self, generator: torch.Generator) -> None:
        """Draw the vectors."""
        limit = 1 / math.sqrt(self.bias.shape[1])
        with torch.no_grad():
            self.weight.uniform_(-limit, limit, generator=generator)
            self.bias.uniform_(-limit, limit, generator=generator)

    def forward(self, numbers: Tensor) -> Tensor:
        """Compute (rows, columns + 1, width); the last vector is for the prediction."""
        tokens = self.bias.expand(len(numbers), -1, -1)
        parts = numbers[:, :, None] * self.weight
        return tokens.index_add(1, torch.tensor(self.owners, dtype=torch.long), parts)


class _Attention(nn.Module):
    """Each column's vector becomes a weighted mean of what all columns' vectors hold."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query_key_value = Linear(width, 3 * width)
        self.out = Linear(width, width)

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Compute new vectors, and the weights: (rows, heads, to, from)."""
        n, t, width = tokens.shape
        split = self.query_key_value(tokens).view(n, t, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        weights = torch.softmax(query @ key.mT / math.sqrt(width // self.heads), dim=-1)
        mixed = (weights @ value).transpose(1, 2).reshape(n, t, width)
        return self.out(mixed), weights


class _Block(nn.Module):
    """Attention, then two layers on each vector, each added to what was there before."""

    def __init__(self, width: int, heads: int, dropout: float, *, is_first: bool) -> None:
        super().__init__()
        self.before_attention = nn.Identity() if is_first else nn.LayerNorm(width)
        self.attention = _Attention(width, heads)
        self.before_layers = nn.LayerNorm(width)
        self.layers = nn.Sequential(
            Linear(width, 2 * width), Activation("gelu"), Dropout(dropout), Linear(2 * width, width)
        )
        self.dropout = Dropout(dropout)

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Compute new vectors, and the weights of attention."""
        mixed, weights = self.attention(self.before_attention(tokens))
        tokens = tokens + self.dropout(mixed)
        return tokens + self.dropout(self.layers(self.before_layers(tokens))), weights


class Transformer(Embedded):
    """Attention over the columns of the table (Gorishniy and others 2021).

    Parameters
    ----------
    owners
        The column of the table that each number belongs to, from 0 on.
    category_owners
        That of each category.
    n_columns
        How many columns the table has.
    """

    def __init__(
        self,
        *,
        owners: Sequence[int],
        category_owners: Sequence[int],
        n_columns: int,
        levels: Sequence[int],
        n_outputs: int,
        layers: int,
        width: int,
        heads: int,
        dropout: float,
    ) -> None:
        super().__init__(levels, [width] * len(levels))
        self.category_owners = list(category_owners)
        self.tokens = Tokens(owners, n_columns, width)
        self.blocks = nn.ModuleList(
            _Block(width, heads, dropout, is_first=k == 0) for k in range(layers)
        )
        self.last = nn.LayerNorm(width)
        self.head = Linear(width, n_outputs)

    def attend(self, numbers: Tensor, embedded: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Compute scores, and the weights of attention of each layer."""
        tokens = self.tokens(numbers)
        if self.category_owners:
            vectors = embedded.view(len(embedded), len(self.category_owners), -1)
            tokens = tokens.index_add(
                1, torch.tensor(self.category_owners, dtype=torch.long), vectors
            )
        weights = []
        for block in self.blocks:
            tokens, attention = block(tokens)
            weights.append(attention)
        scores: Tensor = self.head(torch.relu(self.last(tokens[:, -1])))
        return scores, weights

    def scores(self, numbers: Tensor, embedded: Tensor) -> Tensor:
        """Compute scores, of a single member."""
        return self.attend(numbers, embedded)[0][None]


class Cnn(Embedded):
    """Convolutions over a grid of numbers, two blocks with a halving of the grid between them.

    Parameters
    ----------
    shape
        Rows and columns of the grid.
    cells
        The cell of each number, counted row by row; cells that no number fills stay zero.
    channels
        Numbers of each cell: one, or two where the second marks missing values.
    """

    def __init__(
        self,
        *,
        shape: tuple[int, int],
        cells: Sequence[int],
        channels: int,
        n_outputs: int,
        layers: int,
        units: int,
        activation: str,
        dropout: float,
        batch_norm: bool,
    ) -> None:
        super().__init__((), ())
        self.shape, self.cells, self.channels = shape, list(cells), channels
        height, across = shape
        steps: list[nn.Module] = []
        n_in, n_out = channels, units
        for _ in range(layers):
            size = (3 if height > 1 else 1, 3 if across > 1 else 1)
            around = (size[0] // 2, size[1] // 2)
            steps.append(skip_init(nn.Conv2d, n_in, n_out, size, padding=around))
            if batch_norm:
                steps.append(nn.BatchNorm2d(n_out))
            steps.append(Activation(activation))
            pool = (2 if height >= 4 else 1, 2 if across >= 4 else 1)
            if pool != (1, 1):
                steps.append(nn.MaxPool2d(pool))
                height, across = height // pool[0], across // pool[1]
            n_in, n_out = n_out, 2 * n_out
        self.convolutions = nn.Sequential(*steps)
        hidden = 2 * n_in
        self.layers = nn.Sequential(
            Linear(n_in * height * across, hidden), Activation(activation), Dropout(dropout)
        )
        self.head = Linear(hidden, n_outputs)

    def scores(self, numbers: Tensor, embedded: Tensor) -> Tensor:  # noqa: ARG002 - none here
        """Compute scores, of a single member."""
        n = len(numbers)
        size = self.shape[0] * self.shape[1]
        at = torch.tensor(self.cells, dtype=torch.long)
        parts = numbers.view(n, self.channels, len(self.cells))
        image = torch.zeros(n, self.channels, size, dtype=numbers.dtype)
        image = image.index_add(2, at, parts).view(n, self.channels, *self.shape)
        flat = self.convolutions(image).flatten(1)
        scores: Tensor = self.head(self.layers(flat))
        return scores[None]
