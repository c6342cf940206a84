"""What an estimator is made with: the settings of its recipe, and `random_state` in place of the seed."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar, Self

from graphmotifs._messages import did_you_mean
from mcn.train.recipes import RECIPES, Recipe
from mcn.train.settings import Setting, declared

_RANDOM_STATE = "random_state may also be None (a fresh seed, kept in config_) or a generator of NumPy."


class Parameters:
    """The parameters of an estimator; scikit-learn's `clone` and kin find them here.

    A class statement with `recipe=` gives the class the settings of that recipe as keywords of `__init__`.
    The docstring of every class below it gets a section with these parameters, and the attributes that the
    class inherits.
    """

    recipe: ClassVar[Recipe]
    _attributes: ClassVar[str] = ""

    def __init_subclass__(cls, recipe: str | None = None, **rest: Any) -> None:
        """Make `__init__` from the settings of a recipe, and complete the docstring."""
        super().__init_subclass__(**rest)
        if recipe is not None:
            cls.recipe = RECIPES[recipe]
            cls.__init__ = _init_of(cls.recipe)  # type: ignore[method-assign]
        text, _, example = inspect.cleandoc(cls.__doc__ or "").partition("\n\nExample:\n")
        text, _, cls._attributes = text.partition("\n\nAttributes:\n")
        if hasattr(cls, "recipe"):
            settings = declared(cls.recipe.config).values()
            lines = [f"{parameter_name(one)}: {one.sentence} Default: {one.default!r}." for one in settings]
            attributes = [vars(base).get("_attributes") for base in cls.__mro__]
            sections = {
                "Parameters": "\n".join(f"    {line}" for line in [*lines, _RANDOM_STATE]),
                "Attributes": "\n".join(filter(None, attributes)),
                "Example": example,
            }
            parts = (f"{title}:\n{section}" for title, section in sections.items() if section)
            cls.__doc__ = "\n\n".join([text, *parts])

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters this estimator was made with."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Change some of the parameters."""
        known = inspect.signature(type(self)).parameters
        for name, value in params.items():
            if name not in known:
                hint = did_you_mean(name, known) or f"; it has {', '.join(known)}"
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}{hint}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        changed = {k: v for k, v in self.get_params().items() if v != defaults[k].default}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in changed.items())})"


def parameter_name(setting: Setting) -> str:
    """Return what scikit-learn calls a setting: `random_state` is the seed."""
    return "random_state" if setting.name == "seed" else setting.name


def _init_of(recipe: Recipe) -> Any:
    """Return an `__init__` whose keywords are the settings of a recipe, with their defaults."""

    def __init__(self: Parameters, **params: Any) -> None:
        bound = inspect.signature(type(self)).bind(**params)  # an unknown name is a TypeError, as usual
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            setattr(self, name, value)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter(parameter_name(one), keyword, default=one.default)
        for one in declared(recipe.config).values()
    ]
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    __init__.__signature__ = inspect.Signature([itself, *parameters])  # type: ignore[attr-defined]
    return __init__
