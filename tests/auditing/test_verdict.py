"""The verdict says what was found, no more and no less."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from auditing.audits import HUGE, KEPT, TIMED, WHOLE, broken, finding, share, some_audit, truth
from shoal.auditing.belonging import Belonging
from shoal.auditing.events_check import NOT_CHECKED, EventsCheck
from shoal.auditing.guarantees.judgement import Basis, Guarantees, Judgement, State
from shoal.auditing.guarantees.judging import judge_matchings
from shoal.auditing.guarantees.matchings import Matchings
from shoal.auditing.measures import NO_VICTIM, Measure
from shoal.auditing.result import Audit, _lie_inside
from shoal.auditing.verdict import Verdict, judge
from shoal.core.periods import Renaming
from shoal.core.promise import Grid, Promise


def risk(verdict: Verdict, name: str) -> str:
    (found,) = [risk for risk in verdict.risks if risk.name == name]
    return f"{found.attacker}. {found.meaning}"


def limits(verdict: Verdict) -> str:
    return "\n".join(f"{limit.what}: {limit.measured}" for limit in verdict.limits)


def test_kept() -> None:
    everything = truth(suppressed=0)
    verdict = judge(some_audit(TIMED, truthfulness=everything))
    assert verdict.kept
    assert verdict.headline == (
        "Guarantee 1 KEPT, 2 not checked, 3 kept on 48 of 48 windows, as the file claims (k 2 and 30 min): whoever"
        " knows everything that anybody did in any 30 min finds at least 2 records that fit"
    )
    assert judge(some_audit(WHOLE, truthfulness=everything, required=True)).headline == (
        "Guarantee 1 KEPT, 2 kept, 3 kept on 48 of 48 windows, as required (k 2 over whole trajectories): whoever"
        " knows everything that anybody did finds at least 2 records that fit"
    )
    assert judge(some_audit(TIMED)).headline.endswith("finds at least 2 records that fit, gaps forgiven")


def test_kept_without_a_key_is_said_with_care() -> None:
    audit = some_audit(with_key=False)
    assert audit.kept
    verdict = judge(audit)
    assert verdict.headline.startswith(
        "Guarantee 1 KEPT as far as can be checked without a key, 2 not checked,"
    )
    assert "likelier than others was not checked: no key." in risk(verdict, "Singling out")
    assert "known to be somebody's: not checked: no key" in limits(verdict)


@pytest.mark.parametrize(
    ("fewest", "who", "worst"),
    [
        ((0, 1), "2 of 987,654,321,012 users are", "no record fits"),
        ((1,), "1 of 987,654,321,012 users is", "only 1 fits"),
        ((2, 4, 4), "3 of 987,654,321,012 users are", "only 2 fit"),
    ],
)
@pytest.mark.parametrize("with_key", [False, True])
def test_broken(fewest: tuple[int, ...], who: str, worst: str, with_key: bool) -> None:
    verdict = judge(some_audit(coverage=broken(*fewest), with_key=with_key))
    assert not verdict.kept
    assert verdict.headline == f"BROKEN: {who} not hidden among 2 records; at worst {worst}"


def test_a_file_that_fails_what_it_never_promised() -> None:
    harder = Promise(3, 60, 30)
    failing = some_audit(harder, noted=TIMED, coverage=broken(2))
    assert failing.verdict.headline == (
        "FAILS a promise that is not its own (held to k 3 and 1 h, epsilon 30 min, made for k 2 and 30 min): 1 of"
        f" {HUGE:,} users is not hidden among 3 records; at worst only 2 fit"
    )
    whole = some_audit(WHOLE, noted=TIMED, coverage=broken(1))
    assert "(held to k 2 over whole trajectories, made for k 2 and 30 min)" in whole.verdict.headline
    for noted in (harder, None, Promise(3, None, None)):
        assert some_audit(harder, noted=noted, coverage=broken(2)).verdict.headline.startswith("BROKEN: 1 of")


def test_any_hour_is_not_any_1_h() -> None:
    verdict = judge(some_audit(Promise(2, 60, 30)))
    assert "did in any hour finds" in verdict.headline
    assert "did in some hour." in risk(verdict, "Singling out")


@pytest.mark.parametrize(
    ("changes", "headline"),
    [
        ({"truthfulness": truth(empty=1)}, f"BROKEN: 1 of {HUGE:,} boxes hold no sample of their own user"),
        (
            {"belonging": Belonging(n_overlapping_boxes=1)},
            "BROKEN: 1 box overlaps with another of the same record in time",
        ),
        (
            {"belonging": Belonging(n_surplus_records=3)},
            "BROKEN: there are 3 records more than users, so the file is not true",
        ),
        ({"belonging": Belonging(disagreements=("one thing", "another"))}, "BROKEN: one thing"),
    ],
)
def test_untrue(changes: dict[str, Any], headline: str) -> None:
    audit = some_audit(**changes)
    assert (audit.kept, audit.failed, audit.exit_code) == (False, True, 1)
    verdict = judge(audit)
    assert not verdict.kept
    assert verdict.headline == headline


def judged(number: int, judgement: Judgement, **options: Any) -> Audit:
    """An audit in which one guarantee is judged otherwise."""
    audit = some_audit(**options)
    found = list(audit.guarantees)
    found[number - 1] = judgement._replace(asked=found[number - 1].asked)
    return replace(audit, guarantees=Guarantees(*found))


def test_a_weakened_guarantee_fails_beyond_the_tolerance_only() -> None:
    weakened = Judgement(2, State.WEAKENED, Basis.EVIDENCE, "91 % of members had to serve again", 91, 100)
    audit = judged(2, weakened, tolerance=0.01)
    assert (audit.exit_code, audit.only_weakened) == (1, True)
    assert audit.verdict.headline == (
        "WEAKENED: guarantee 1 KEPT, 2 weakened (91 % of members had to serve again, from the private evidence;"
        " tolerance 1 %), 3 kept on 48 of 48 windows"
    )
    tolerated = judged(2, weakened, tolerance=0.91)
    assert (tolerated.exit_code, tolerated.only_weakened) == (0, False)
    assert tolerated.verdict.headline.startswith("Guarantee 1 KEPT, 2 weakened (91 %")
    assert "; tolerance 91 %)" in tolerated.verdict.headline


def test_a_broken_guarantee_3_is_never_kept() -> None:
    audit = judged(3, judge_matchings(Matchings(48, 40, 2)))
    assert (audit.exit_code, audit.kept) == (1, False)
    assert audit.verdict.headline == ("BROKEN: guarantee 1 KEPT, 2 not checked, 3 broken on 2 of 40 windows")


def test_what_is_required_and_could_not_be_checked_has_a_code_of_its_own() -> None:
    assert some_audit().exit_code == 0
    audit = some_audit(required=True)
    assert (audit.exit_code, audit.kept, audit.failed) == (4, False, False)
    assert some_audit(WHOLE, required=True).exit_code == 0
    left_out = KEPT._replace(n_unchecked=1)
    assert some_audit(WHOLE, coverage=left_out, with_key=False).exit_code == 0
    assert some_audit(WHOLE, coverage=left_out, with_key=False, required=True).exit_code == 4
    assert some_audit(coverage=broken(1), required=True).exit_code == 1


@pytest.mark.parametrize("required", [False, True])
def test_doubtful_events_are_never_kept(required: bool) -> None:
    doubtful = EventsCheck(NOT_CHECKED, hint="rows were left out", doubtful=True)
    audit = some_audit(WHOLE, events_checked=doubtful, required=required)
    assert (audit.exit_code, audit.kept, audit.failed, audit.verdict.kept) == (4, False, False, False)
    asked = "required" if required else "the file claims"
    assert audit.verdict.headline == (
        "EVENTS READ OTHERWISE THAN FOR THE RELEASE, perhaps: guarantee 1 kept, 2 kept, 3 kept on 48 of 48 windows, as"
        f" {asked} (k 2 over whole trajectories), but of these events only"
    )
    failing = some_audit(coverage=broken(1), events_checked=doubtful)
    assert failing.exit_code == 1
    assert failing.verdict.headline.startswith(
        "BROKEN, or the events were read otherwise than for the release: 1"
    )
    other = some_audit(Promise(3, 60, 30), noted=TIMED, coverage=broken(1), events_checked=doubtful)
    assert "made for k 2 and 30 min), or the events were read otherwise" in other.verdict.headline


def test_a_weak_claim_is_never_kept() -> None:
    audit = some_audit(weak_claim=True)
    assert (audit.exit_code, audit.kept, audit.failed, audit.verdict.kept) == (4, False, False, False)
    assert audit.verdict.headline == (
        "WEAK CLAIM: guarantee 1 kept, 2 not checked, 3 kept on 48 of 48 windows, as the file claims (k 2 and 30 min),"
        " which says nearly nothing of these events"
    )
    assert "KEPT" not in judged(3, judge_matchings(Matchings(48, 40, 2)), weak_claim=True).verdict.headline


def test_longer_windows_than_required_are_not_the_files_own_promise() -> None:
    longer = Judgement(2, State.BROKEN, Basis.MANIFEST, "members stay for windows of 1 d, longer than 1 h")
    audit = judged(2, longer, required=True, noted=WHOLE)
    assert audit.only_fails_other
    assert audit.verdict.headline.startswith(
        "FAILS a promise that is not its own (held to k 2 and 30 min, made for"
    )
    assert not judged(2, longer, required=True, noted=TIMED).only_fails_other


def test_untrue_without_a_key() -> None:
    audit = some_audit(coverage=some_audit().coverage._replace(n_untrue=3), with_key=False)
    assert not audit.kept
    assert audit.verdict.headline == (
        "BROKEN: at least 3 records can be nobody's in these events, so the file is not true"
    )


def test_the_larger_of_picking_and_ranking_is_the_risk() -> None:
    verdict = judge(some_audit(value=0.25))
    assert verdict.risks[0].share is not None
    assert (
        "Picking blindly among the records that fit is right in 25 % of attacks: at most 50 % wherever 2 fit."
    ) in risk(verdict, "Singling out")
    assert "The best of 3 ways to rank them is right in 25 %, weighing them by places in 25 %." in risk(
        verdict, "Singling out"
    )
    assert "likelier" not in risk(verdict, "Singling out")
    found = judge(some_audit(value=0.6, findings=[finding()]))
    assert (
        "The largest of these is more than 50 %, and not by chance: some of the records that fit are likelier than"
        " others. What is promised is how many fit, not that they are equally likely."
    ) in risk(found, "Singling out")
    assert "the promise allows" not in risk(found, "Singling out")


def test_what_whole_trajectories_protect_is_not_listed_as_unprotected() -> None:
    timed, whole = judge(some_audit(TIMED)), judge(some_audit(WHOLE))
    assert "This is not promised" in risk(timed, "Linkability")
    assert "the promise allows none" in risk(whole, "Linkability")
    only_timed = (
        "longer than tau",
        "separate intervals of 30 min",
        "chain attack",
        "at any times",
        "top locations",
    )
    for text in only_timed:
        assert text in limits(timed)
        assert text not in limits(whole)
    for text in ("Home and work", "homogeneity", "collude", "in the data at all", "Other releases"):
        assert text in limits(whole)


def test_what_could_not_be_measured_is_no_figure() -> None:
    audit = some_audit()
    nobody = [figure._replace(published=NO_VICTIM) for figure in audit.figures]
    verdict = judge(some_audit(figures=nobody))
    assert {risk.share for risk in verdict.risks} == {None}
    assert "%" not in limits(verdict)
    assert "in an unknown share (nobody to attack) of attacks" in limits(verdict)


def test_a_ranking_that_beats_guessing_but_not_the_bound_is_told() -> None:
    figures = [
        figure._replace(published=share(0.4)) if figure.attack == "rankings" else figure
        for figure in some_audit(value=0.25).figures
    ]
    told = risk(judge(some_audit(figures=figures)), "Singling out")
    assert (
        "picks the right one in 25 %. The largest of these is more than picking blindly: some of"
        " the records that fit are likelier than others. What is promised is how many fit"
    ) in told
    assert "likelier than others" not in risk(judge(some_audit(value=0.25)), "Singling out")


@pytest.mark.parametrize(
    ("tau", "epsilon", "inside"),
    [(30, 30, True), (15, 15, True), (30, 10, True), (25, 25, False), (60, 30, False)],
)
def test_which_windows_lie_inside_those_of_a_file_made_for_half_hours(
    tau: int, epsilon: int, inside: bool
) -> None:
    """Slow: every window of the required promise is looked for among those of the file."""
    asked, made = Promise(k=2, tau=tau, epsilon=epsilon), Promise(k=2, tau=30, epsilon=30)
    windows = [(begin, begin + made.window) for begin in range(-300, 900, 30)]
    every = all(
        any(low <= begin and begin + asked.window <= high for low, high in windows)
        for begin in range(0, 600, epsilon)
    )
    assert _lie_inside(asked, made) is every is inside


def test_what_is_seen_across_a_border() -> None:
    """With whole parts nothing is promised there, it is said how long somebody watched, and what twins tell."""
    renaming = Renaming(21_600, "UTC")
    picked = Measure("across_border", "", "pick", share(0.2), share(0.97), 1e-6)
    read = picked._replace(measure="read", published=share(0.9))

    def told(promise: Promise, *found: Measure, **changes: Any) -> str:
        audit = some_audit(promise, renaming=renaming, **changes)
        return limits(judge(replace(audit, figures=[*audit.figures, *found])))

    what = "Watching somebody across a border: "
    assert f"{what}both parts beside it are picked in 20 % of attacks\n" in told(TIMED, picked)
    whole = f"{what}nothing is promised: whoever watched for any hour picks both parts beside it in 20 % of attacks"
    assert f"{whole}\n" in told(WHOLE, picked)
    assert f"{whole}, and what both say is read in 90 %\n" in told(WHOLE, picked, read)
    assert "whoever watched for any 4 h picks" in told(WHOLE, picked, grid=Grid(step_s=7200))
    assert f"{what}not checked: no key\n" in told(WHOLE, picked, with_key=False)
    assert what not in limits(judge(some_audit(TIMED)))
