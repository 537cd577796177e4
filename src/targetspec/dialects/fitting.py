"""What a dialect with few words can hold of a target: the text is read again, and what differs did not fit."""

from __future__ import annotations

from collections.abc import Callable

from targetspec.errors import NotRepresentableError, TargetSyntaxError
from targetspec.target import Target


def refused_kind(dialect: str, target: Target, what: str) -> NotRepresentableError:
    """Return the error for a target of a kind that the dialect does not speak of."""
    return NotRepresentableError(dialect, (("kind", f"{target.kind}: this form is for {what} only"),))


def fitted(dialect: str, target: Target, text: str, read: Callable[[str], Target], *, lossy: bool) -> str:
    """Return the text if it says the target whole, or is allowed to say less; NotRepresentableError names the rest."""
    if lossy:
        return text
    try:
        said = read(text)
    except TargetSyntaxError as error:
        raise NotRepresentableError(
            dialect, (("triple", f"{text!r} is not read: {error.message}"),)
        ) from None
    unfit = tuple(
        (name, f"{text!r} has no place for it")
        for name in target.specs()
        if getattr(said, name) != getattr(target, name)
    )
    if unfit:
        raise NotRepresentableError(dialect, unfit)
    return text
