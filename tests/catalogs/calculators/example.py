"""A module of functions that can, and cannot, be calculators."""

from functools import partial, wraps


def photo_z(batch, **parameters):
    """Return the batch: what it calculates does not matter here."""
    return batch, parameters


class Group:
    @staticmethod
    def inner(batch):
        return batch


def local():
    def hidden(batch):
        return batch

    return hidden


def _decorated(function):
    @wraps(function)
    def wrapper(batch):
        return function(batch)

    return wrapper


def original(batch):
    return batch


wrapped = _decorated(original)
fixed = partial(photo_z, template=1)
anonymous = lambda batch: batch  # noqa: E731
