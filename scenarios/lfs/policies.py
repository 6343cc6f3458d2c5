"""The cleaning policy of section 3.5."""

from outlast.policies import View


def cost_benefit(view: View) -> int | None:
    """Free space times age over cost: the largest (1 - u) · age / (1 + u).

    Age is counted in files written since a segment was filled; the paper takes the age of the segment's youngest file.
    """
    used = view.valid / view.units
    return view.most((1 - used) * (view.age + 1) / (1 + used), view.gains)
