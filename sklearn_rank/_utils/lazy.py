"""Attributes that are computed on first access: a file of its own, because modules of all floors need it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

from sklearn_rank._utils.read_only import ReadOnlyArrays, read_only

T = TypeVar("T")


class cached_property(Generic[T]):
    """`functools.cached_property` without its lock, which on Python 3.11 makes threads with other instances wait."""

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.func, self.__doc__ = function, function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        """Store the name of the attribute."""
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> T:
        """Compute the value and store it on the instance, which is read from then on."""
        if instance is None:
            return self  # type: ignore[return-value]
        value = self.func(instance)
        if isinstance(instance, ReadOnlyArrays):
            value = read_only(value)
        instance.__dict__[self.name] = value
        return value


class ReadAttribute(Generic[T]):
    """Attribute without storage: the method `read` of a subclass returns its value."""

    def __init__(self, description: str) -> None:
        self.__doc__ = description

    def __set_name__(self, owner: type, name: str) -> None:
        """Store the name of the attribute."""
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: Any, owner: type) -> T: ...
    def __get__(self, instance: Any, owner: type) -> Self | T:
        """Read the value."""
        return self if instance is None else self.read(instance)

    def read(self, instance: Any) -> T:
        """Value of the attribute of an instance."""
        raise NotImplementedError
