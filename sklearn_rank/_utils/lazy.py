"""Attributes that are computed when they are first read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class cached_property(Generic[T]):
    """As `functools.cached_property`, which on Python 3.11 lets one thread at a time compute, of all instances."""

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.func, self.__doc__ = function, function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        """Learn the name to keep the value under."""
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> T:
        """Compute the value; from then on the instance has it."""
        if instance is None:
            return self  # type: ignore[return-value]
        value = instance.__dict__[self.name] = self.func(instance)
        return value
