"""Listing what a stored estimator is made of, without building it.

skops stores an estimator as a tree of nodes in JSON, each with the kind of loader that will rebuild
it and the name of a type or function. Some loaders call what they name with arguments from the
file. skops has a list of names it trusts by itself, wider than needed here, and applies it to all
loaders alike. This module decides from the JSON only, before skops reads it: only kinds of loader
that are known not to call anything by a name from the file are let through, each with its own list
of names, and a node may not have fields that its kind does not have.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from clearwood._shared.errors import InputError
from clearwood.files import damaged, to_array
from clearwood.models.files import trusted as _trusted

__all__ = ["PROTOCOL", "FileAudit", "Refused", "audit"]

#: The revision of skops' format whose loaders were reviewed for this module.
PROTOCOL = 2

_OF_EVERY_NODE = {"__class__", "__module__", "__loader__", "__id__"}
_OF_THE_ROOT = {"protocol", "_skops_version"}


@dataclass(frozen=True, order=True)
class Refused:
    """A name that is not trusted.

    Parameters
    ----------
    name
        Of a type or function.
    use
        Where the use rather than the name is refused: how it would be used.
    """

    name: str
    use: str = ""

    def __str__(self) -> str:
        return f"{self.name!r} ({self.use})" if self.use else repr(self.name)


@dataclass(frozen=True)
class FileAudit:
    """The names a stored estimator mentions.

    Parameters
    ----------
    root
        The type of the estimator itself.
    names
        Every type and function that loading would look up.
    refused
        Those that are not trusted, in order; empty for a file that may be loaded.
    """

    root: str
    names: frozenset[str]
    refused: tuple[Refused, ...]

    @property
    def types(self) -> tuple[str, ...]:
        """The names to show: neither containers nor plain arrays and numbers."""
        return tuple(sorted(self.names - _trusted.PLAIN))


def audit(schema: Any, files: Mapping[str, bytes], trusted: Iterable[str] = ()) -> FileAudit:
    """List the names in a stored estimator, and which of them are not trusted."""
    if not isinstance(schema, dict) or schema.get("protocol") != PROTOCOL:
        revision = schema.get("protocol") if isinstance(schema, dict) else None
        raise _malformed(f"its format is revision {revision!r} instead of {PROTOCOL}")
    auditor = _Auditor(files, frozenset(trusted))
    root = {key: value for key, value in schema.items() if key not in _OF_THE_ROOT}
    try:
        auditor.visit(root)
    except InputError:
        raise
    except RecursionError:
        raise _malformed("it is nested too deeply") from None
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise _malformed(f"a node is not what it should be ({error!r})") from None
    return FileAudit(auditor.name(root), frozenset(auditor.names), tuple(sorted(auditor.refused)))


def _malformed(what: str) -> InputError:
    return damaged(f"the model in the file cannot be read: {what}; nothing was run")


class _Auditor:
    """One walk over the nodes; each method checks the fields of one kind of loader."""

    def __init__(self, files: Mapping[str, bytes], trusted: frozenset[str]) -> None:
        self.files = files
        self.by_caller = trusted
        self.objects = _trusted.objects() | trusted
        self.names: set[str] = set()
        self.refused: set[Refused] = set()
        self.seen: dict[int, Any] = {}
        self.kinds: Mapping[str, Callable[[dict[str, Any]], None]] = {
            "ConstructorFromReduceNode": self.constructor,
            "DTypeNode": self.dtype,
            "DictNode": self.mapping,
            "FunctionNode": self.function,
            "JsonNode": self.value,
            "ListNode": self.sequence,
            "LossNode": self.loss,
            "MaskedArrayNode": self.masked_array,
            "NdArrayNode": self.array,
            "ObjectNode": self.instance,
            "PartialNode": self.partial,
            "RandomGeneratorNode": self.generator,
            "RandomStateNode": self.random_state,
            "SetNode": self.sequence,
            "SliceNode": self.slice,
            "TreeNode": self.tree,
            "TupleNode": self.sequence,
            "TypeNode": self.type,
        }

    def visit(self, state: Any) -> None:
        if not isinstance(state, dict):
            raise _malformed("a node is not an object")
        known = self.kinds.get(state.get("__loader__", ""))
        if known is None:
            # Methods, operators and the like: loaders that call or bind what they name.
            self.refused.add(Refused(self.name(state), f"as {state.get('__loader__')}"))
            return
        if self.visited(state):
            return
        known(state)

    def visited(self, state: dict[str, Any]) -> bool:
        """Whether the very same node was met; skops reuses the first node with an id."""
        number = state.get("__id__")
        if number is None:
            return False
        if not isinstance(number, int):
            raise _malformed("a node's id is not a number")
        first = self.seen.setdefault(number, state)
        if first is state:
            return False
        if first != state:
            # Otherwise a harmless node here could stand for another one elsewhere.
            raise _malformed("two nodes have one id")
        return True

    def name(self, state: dict[str, Any]) -> str:
        module, name = state.get("__module__"), state.get("__class__")
        if not isinstance(module, str) or not isinstance(name, str):
            raise _malformed("a node has no type")
        return f"{module}.{name}"

    def expect(
        self, state: dict[str, Any], allowed: frozenset[str], fields: set[str], optional: str = ""
    ) -> None:
        """Check the name and that the fields are exactly those of this kind of loader."""
        name = self.name(state)
        self.names.add(name)
        if name not in allowed:
            self.refused.add(Refused(name))
        if (set(state) | {optional, "__id__"}) - {optional} != _OF_EVERY_NODE | fields:
            raise _malformed(f"a node of type {name} has fields it should not have")

    def value(self, state: dict[str, Any]) -> None:
        self.expect(state, frozenset({"builtins.str"}), {"content", "is_json"})
        try:
            json.loads(state["content"])
        except (TypeError, ValueError):
            raise _malformed("a value is not JSON") from None

    def sequence(self, state: dict[str, Any]) -> None:
        kind = {"ListNode": "list", "SetNode": "set", "TupleNode": "tuple"}[state["__loader__"]]
        self.expect(state, frozenset({f"builtins.{kind}"}), {"content"})
        self.visit_all(state["content"])

    def visit_all(self, content: Any) -> None:
        if not isinstance(content, list):
            raise _malformed("a sequence is not a list")
        for item in content:
            self.visit(item)

    def mapping(self, state: dict[str, Any]) -> None:
        self.expect(state, _trusted.MAPPINGS, {"content", "key_types"})
        keys, content = state["key_types"], state["content"]
        if not isinstance(content, dict) or not isinstance(keys, dict):
            raise _malformed("a mapping is not an object")
        # Loading calls each key type with the key: only numbers and text, whatever is trusted.
        self.visit(keys)
        if keys.get("__loader__") != "ListNode" or len(keys["content"]) != len(content):
            raise _malformed("the types of a mapping's keys are not listed")
        for key in keys["content"]:
            if key.get("__loader__") != "TypeNode" or self.name(key) not in _trusted.KEYS:
                raise _malformed("a mapping has keys that are neither text nor numbers")
        for item in content.values():
            self.visit(item)

    def type(self, state: dict[str, Any]) -> None:
        self.expect(state, _trusted.PLAIN, set())

    def function(self, state: dict[str, Any]) -> None:
        self.expect(state, _trusted.FUNCTIONS | self.by_caller, set())

    def partial(self, state: dict[str, Any]) -> None:
        # Loading does not call it, a prediction may: only a trusted function with named options.
        self.expect(state, frozenset({"functools.partial"}), {"content"})
        self.parts(state, {"func", "args", "kwds", "namespace"})
        content = state["content"]
        if content["func"]["__loader__"] != "FunctionNode" or content["args"].get("content"):
            self.refused.add(Refused(self.name(content["func"]), "in a partial function"))

    def instance(self, state: dict[str, Any]) -> None:
        self.expect(state, self.objects, set(), optional="content")
        if "content" in state:
            self.visit(state["content"])

    def constructor(self, state: dict[str, Any]) -> None:
        # Calls the type with arguments from the file: nothing of ours is stored like this.
        self.expect(state, self.by_caller, {"content"})
        self.visit(state["content"])

    def loss(self, state: dict[str, Any]) -> None:
        self.expect(state, _trusted.LOSSES, {"__reduce__", "content"})
        self.reduced(state)

    def tree(self, state: dict[str, Any]) -> None:
        self.expect(state, frozenset({_trusted.TREE}), {"__reduce__", "content"})
        self.reduced(state)
        if Refused(self.name(state)) in self.refused:
            return
        # The constructor reads as many class counts as the file declares outputs.
        columns, classes, outputs = state["__reduce__"]["args"]["content"]
        counts = to_array(self.files[classes["file"]])
        n_outputs, n_columns = json.loads(outputs["content"]), json.loads(columns["content"])
        if counts.ndim != 1 or len(counts) != n_outputs or n_outputs < 1 or n_columns < 1:
            raise _malformed("a tree has other outputs than it declares")

    def reduced(self, state: dict[str, Any]) -> None:
        call = state["__reduce__"]
        if not isinstance(call, dict) or set(call) != {"args"}:
            raise _malformed("a constructor has other things than arguments")
        self.visit(call["args"])
        self.visit(state["content"])

    def slice(self, state: dict[str, Any]) -> None:
        self.expect(state, frozenset({"builtins.slice"}), {"content"})
        if not all(bound is None or isinstance(bound, int) for bound in state["content"].values()):
            raise _malformed("a slice has bounds that are not whole numbers")

    def array(self, state: dict[str, Any]) -> None:
        if state.get("type") == "numpy":
            self.expect(state, _trusted.ARRAYS, {"type", "file"})
            if state["file"] not in self.files:
                raise _malformed(f"the array {state['file']!r} is missing")
            return
        self.expect(state, frozenset({"numpy.ndarray"}), {"type", "content", "shape"})
        self.visit_all(state["content"])
        self.visit(state["shape"])

    def masked_array(self, state: dict[str, Any]) -> None:
        self.expect(state, _trusted.MASKED_ARRAYS, {"content"})
        self.parts(state, {"data", "mask"})

    def dtype(self, state: dict[str, Any]) -> None:
        self.expect(state, frozenset({"numpy.dtype"}), {"content"})
        self.visit(state["content"])

    def random_state(self, state: dict[str, Any]) -> None:
        self.expect(state, frozenset({_trusted.RANDOM_STATE}), {"content"})
        self.visit(state["content"])

    def generator(self, state: dict[str, Any]) -> None:
        self.expect(state, frozenset({_trusted.GENERATOR}), {"content"})
        self.parts(state, {"bit_generator", "seed_seq"})
        try:
            name = json.loads(
                state["content"]["bit_generator"]["content"]["bit_generator"]["content"]
            )
        except (KeyError, TypeError, ValueError):
            name = None
        if name not in _trusted.BIT_GENERATORS:
            self.refused.add(Refused(f"numpy.random.{name}"))

    def parts(self, state: dict[str, Any], names: set[str]) -> None:
        content = state["content"]
        if not isinstance(content, dict) or set(content) != names:
            raise _malformed(f"a node of type {self.name(state)} has other parts than it should")
        for name in sorted(names):
            self.visit(content[name])
