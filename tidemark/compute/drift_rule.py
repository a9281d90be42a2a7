"""The rule `drift`: the profile from the scan of all rules, compared with those of other slices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.compute.rule_measures import Judgement
from tidemark.dependency_model.profile.drift import drift
from tidemark.errors import EntityError

if TYPE_CHECKING:
    from tidemark.compute.rule_surroundings import Surroundings
    from tidemark.dependency_model.entity.quality_rules import Drift
    from tidemark.dependency_model.profile.slice_profile import SliceProfile
    from tidemark.dependency_model.slice import Slice


def judge_drift(rule: Drift, profile: SliceProfile | None, slice_: Slice, around: Surroundings) -> Judgement:
    """The result of one rule for one slice.

    Raises StateStoreDownError, and EntityError without a known distribution.
    """
    if profile is None:
        raise EntityError("the profile of the slice could not be measured")
    past = around.profiles_of_same_weekday(slice_)
    told = drift(rule.column, around.dated_profile(slice_, profile), past)
    if told is None:
        return Judgement(passed=True, reason=f"there are no values of {rule.column} to compare with")
    reason = f"{rule.column} is {told.distance:.3f} from its usual distribution (0 to 1, beyond chance; median of "
    reason += f"{told.compared} slices before), expected at most {rule.at_most:g}"
    figures = {"drift": round(told.distance, 4), "slices compared": told.compared}
    return Judgement(told.distance <= rule.at_most, reason, figures)
