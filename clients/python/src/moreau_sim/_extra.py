# SPDX-License-Identifier: MIT
"""What needs an extra of the distribution says which."""

import importlib.util


def needs_gymnasium(what: str) -> None:
    """Raises where Gymnasium is not installed."""
    if importlib.util.find_spec("gymnasium") is None:
        raise ModuleNotFoundError(f"{what} needs Gymnasium: pip install 'moreau-sim[gym]'", name="gymnasium")
