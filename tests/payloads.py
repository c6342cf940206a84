"""What a hostile file may hold."""

from collections.abc import Callable
from typing import Any


class Call:
    """Unpickled by calling `function(*args)`, if one lets it."""

    def __init__(self, function: Callable[..., Any], *args: Any) -> None:
        self.function, self.args = function, args

    def __reduce__(self) -> Any:
        return self.function, self.args
