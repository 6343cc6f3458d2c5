"""Does a notebook show what the tables hold, in its own colours, and does every plot draw the report's data?"""

from __future__ import annotations

import json
import pickle
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import plotly.io as pio
import pytest

import outlast
from conftest import TINY
from outlast import Comparison, OutputError, models
from outlast.notebook import plots, theme
from outlast.report import comparison, render, single, sweep
from outlast.report.numbers import micros, short
from sample import sample_result, with_array, with_errors

VOID = {"br", "wbr", "hr", "img", "input", "meta", "link", "polyline", "polygon"}
NASTY = "<script>alert('x')</script>"


class Page(HTMLParser):
    """Refuses tags that do not match, and keeps tags, attributes and words."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] != "style":
            self.words += f" {data}"


def parsed(shown: Any) -> Page:
    """Parsed HTML of an object, which must load nothing and run nothing."""
    page = Page(shown._repr_html_())
    assert {tag for tag, _ in page.tags}.isdisjoint({"script", "link", "img", "iframe"})
    names = {name for _, attributes in page.tags for name in attributes}
    assert not {name for name in names if name.startswith("on") or name in ("src", "href")}
    return page


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> outlast.Sweep:
    """Two policies at two rates on a tiny drive, twice each."""
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "tiny.toml").write_text(TINY)
    vary = [
        {"setting": "device.ftl.gc.policy", "values": ["greedy", "fifo"]},
        {"setting": "workload.synthetic.rate_iops", "values": [1000, 2000]},
    ]
    spec = {"name": "two <b>", "scenario": str(folder / "tiny.toml"), "repeats": 2, "vary": vary}
    return outlast.sweep(spec, folder / "out", jobs=2)


def test_a_result_shows_its_summary(tiny_result: Path) -> None:
    result = outlast.load(tiny_result)
    words, latency = parsed(result).words, result.latency_us
    for figure in (short(result.throughput.iops), f"{result.write_amplification.total:.3f}"):
        assert figure in words
    for op in ("read", "write"):
        for key in ("mean", "p50", "p99", "max"):
            assert micros(latency[op][key]) in words
    assert "partial" not in words
    assert "partial" in parsed(sample_result(partial=True)).words


def test_names_cannot_break_what_is_shown(swept: outlast.Sweep) -> None:
    nasty = sample_result(NASTY)
    nasty.summary["device"]["model"] = NASTY
    other = with_errors(sample_result("<i>b"))
    other.summary["scenario"]["device"]["reliability"]["chip"] = NASTY
    for shown in (nasty, Comparison([nasty, other]), swept):
        assert "<" in parsed(shown).words
    assert NASTY in parsed(nasty).words


def test_what_is_shown_is_small_and_has_no_ground() -> None:
    shown = sample_result(windows=20_000)._repr_html_()
    assert len(shown) < 20_000
    style = shown[shown.index("<style>") : shown.index("</style>")]
    assert "background: transparent" in style and "color: inherit" in style
    # Text has the notebook's colour; only dots and small curves have one of their own.
    assert " color: #" not in style and " background: #" not in style


def test_a_result_without_tables_is_shown() -> None:
    bare = outlast.Result(sample_result().summary, {}, "")
    assert "tables: none" in parsed(bare).words


def test_a_comparison_shows_and_tables_what_differs(tmp_path: Path) -> None:
    first, second = sample_result("a"), with_errors(sample_result("a", seed=2))
    both = Comparison([first, second])
    page = parsed(both)
    assert both.names == ["a #1", "a #2"]
    assert "device.reliability.chip" in page.words and "tlc-72-layer" in page.words
    figures, settings = both.table(), both.table("settings")
    row = figures.row(figures["figure"].to_list().index("write_amplification.total"))
    assert row[1:] == tuple(each.write_amplification.total for each in (first, second))
    assert settings["setting"].to_list() == list(both.differences["settings"])
    assert "UBER" in both.report(tmp_path / "both.html").read_text()
    assert Comparison([first, sample_result("figure")]).table().columns == ["figure", "a", "figure (result)"]
    with pytest.raises(OutputError, match="a comparison of 1: it takes two"):
        Comparison([first])
    with pytest.raises(OutputError, match="no table 'wear' of a comparison; there are: figures, settings"):
        both.table("wear")


def test_a_sweep_shows_every_point(swept: outlast.Sweep) -> None:
    words = parsed(swept).words
    assert "two <b>" in words and "4 points, 8 runs" in words
    for point in swept.points:
        assert short(point["figures"]["throughput.iops"]["mean"], 4) in words
    many = outlast.Sweep(json.loads(swept.to_json()), swept.columns)
    many.summary["points"] = [many.points[0]] * 50
    assert "and 10 points more" in parsed(many).words


def test_lists_are_tables_and_stay_dictionaries() -> None:
    presets, chips = outlast.presets(), models.chips()
    for shown in (presets, chips):
        words = parsed(shown).words
        assert all(name in words for name in shown)
    assert "7 500" not in parsed(chips).words
    assert json.loads(json.dumps(presets)) == presets == pickle.loads(pickle.dumps(presets))
    assert "A small TLC drive" in parsed(presets).words


CASES = {
    "plain": lambda: sample_result("plain"),
    "errs": lambda: with_errors(sample_result("errs")),
    "array": lambda: with_array(sample_result("array")),
}


def data_of(figure: Any) -> list[dict[str, Any]]:
    """The traces of a plotly figure as JSON has them."""
    return list(json.loads(figure.to_json())["data"])


def decoded(values: Any) -> list[Any]:
    """Values of a trace, which plotly may pack."""
    if isinstance(values, dict):
        import base64

        return list(np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"]).tolist())
    return list(values)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("shade", ["light", "dark"])
def test_every_chart_of_the_report_is_a_plot_with_its_data(name: str, shade: theme.Theme) -> None:
    result = CASES[name]()
    page, plot = render([result]), result.plot
    charts = [chart for section in single.sections(result) for chart in section.figures]
    assert plot.names == [chart.name for chart in charts]
    for chart in charts:
        assert f'<figure class="card chart{" whole" if chart.whole else ""}" id="{chart.name}">' in page
        figure = plot(chart.name, shade)
        assert "var:" not in figure.to_json()
        assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == "rgba(0,0,0,0)"
        drawn = data_of(figure)
        assert len(drawn) == len(chart.data)
        for mine, its in zip(drawn, chart.data, strict=True):
            for axis in ("x", "y", "z"):
                assert axis not in its or decoded(mine[axis]) == list(its[axis]), (chart.name, axis)


def test_every_plot_is_of_the_tables(tiny_result: Path) -> None:
    result = outlast.load(tiny_result)
    series, wear = result.table("timeseries"), result.table("wear")
    read = data_of(result.plot("throughput"))[0]
    rate = series["reads"] / (series["end_s"] - series["start_s"])
    assert np.allclose(decoded(read["y"]), rate.to_numpy()[: len(decoded(read["y"]))], rtol=1e-4)
    bars = data_of(result.plot.cycles())[0]
    assert sum(decoded(bars["y"])) == (~wear["bad"].cast(bool)).sum()
    assert {trace["name"] for trace in data_of(result.plot.latency())} == set(result.table("latency")["op"].to_list())
    lines = data_of(result.plot.timeline())
    assert {trace["yaxis"] for trace in lines} == {"y", "y2", "y3"}
    assert [line["name"] for line in lines[:2]] == ["read", "write"]


def test_causes_are_plotted_where_they_are_known(causes_result: Path, tiny_result: Path) -> None:
    result = outlast.load(causes_result)
    for op in ("read", "write"):
        bands = result.summary["latency_causes"][op]["bands"]
        shares = np.sum([decoded(trace["y"]) for trace in data_of(result.plot.causes(op))], axis=0)
        assert shares == pytest.approx([1.0] * len(bands), abs=1e-6)
    with pytest.raises(OutputError, match=r'^no chart "causes-read" of tiny: run.causes = true makes it'):
        outlast.load(tiny_result).plot.causes()
    with pytest.raises(OutputError, match='op = "trim": must be read or write'):
        result.plot.causes("trim")


@pytest.mark.parametrize(
    ("draw", "says"),
    [
        (lambda plot: plot.errors(), "device.reliability.chip makes it"),
        (lambda plot: plot.wrong_bits(), "device.reliability.chip makes it"),
        (lambda plot: plot("twin"), "run.twin = true makes it"),
        (lambda plot: plot("array-wear"), r"\[array\] makes it"),
        (lambda plot: plot("wear-mop"), 'did you mean "wear-map"'),
        (lambda plot: plot.latency(theme="drak"), 'theme = "drak": must be light or dark'),
    ],
)
def test_a_plot_of_what_is_not_there_says_what_makes_it(draw: Any, says: str) -> None:
    with pytest.raises(OutputError, match=says) as caught:
        draw(sample_result().plot)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["array", "jobs", "overloaded", "weak", "causes", "mount"])
def test_every_kind_of_run_shows_itself_and_its_plots(kind: str, request: pytest.FixtureRequest) -> None:
    result = outlast.load(request.getfixturevalue(f"{kind}_result"))
    assert result.summary["name"] in parsed(result).words
    for name in result.plot.names:
        assert result.plot(name, "dark").data, name
    both = Comparison([result, outlast.load(request.getfixturevalue("tiny_result"))])
    assert "tiny" in parsed(both).words
    for name in both.plot.names:
        assert both.plot(name).data, name


def test_a_plot_says_which_table_is_not_kept() -> None:
    bare = outlast.Result(sample_result("bare").summary, {}, "")
    for draw, table in ((bare.plot.latency, "latency"), (bare.plot.timeline, "timeseries"), (bare.plot.wear, "wear")):
        with pytest.raises(OutputError, match=f"or {table}.parquet is not kept with it"):
            draw()


def test_every_chart_that_is_explained_is_a_chart() -> None:
    """The names in the table of settings are those of charts, so that no explanation is of a chart that is gone."""
    source = "".join(path.read_text() for path in Path(single.__file__).parent.glob("*.py"))
    for name in {*plots.LACKS, *plots._ALIKE} - {"causes-read", "causes-write", "distribution-read"}:
        assert f'Figure("{name}"' in source or f'"{name}"' in source or name == "distribution-write", name


def test_colours_follow_the_theme(monkeypatch: pytest.MonkeyPatch) -> None:
    light, dark = theme.colours("light"), theme.colours("dark")
    assert set(light) == set(dark) and light["ink"] != dark["ink"]
    plot = sample_result().plot
    monkeypatch.setattr(pio.templates, "default", "plotly_dark")
    assert plot.latency().layout.legend.font.color == dark["ink"]
    assert plot.latency("light").layout.legend.font.color == light["ink"]
    monkeypatch.setattr(pio.templates, "default", "plotly_white")
    assert plot.latency().layout.legend.font.color == light["ink"]


def test_comparisons_and_sweeps_have_the_charts_of_their_reports(swept: outlast.Sweep) -> None:
    both = Comparison([with_errors(sample_result("a")), sample_result("b", seed=2)])
    charts = [chart for section in comparison.sections(both.runs) for chart in section.figures]
    assert both.plot.names == [chart.name for chart in charts]
    for draw in (both.plot.latency, both.plot.timeline):
        assert {trace["name"] for trace in data_of(draw())} == {"a", "b"}
    assert {trace["name"] for trace in data_of(both.plot.errors())} == {"a"}
    bars = ["a", "a<br>closed form", "b", "b<br>closed form"]
    assert all(trace["y"] == bars for trace in data_of(both.plot.amplification()))
    charts = [chart for section in sweep.sections_of(swept) for chart in section.figures]
    assert swept.plot.names == [chart.name for chart in charts]
    means = [point["figures"]["write_amplification.total"]["mean"] for point in swept.points]
    curves = data_of(swept.plot.figure("write_amplification.total"))
    assert sorted(y for curve in curves for y in decoded(curve["y"])) == pytest.approx(sorted(means), rel=1e-4)
    turned = swept.plot.figure("write_amplification.total", over="workload.synthetic.rate_iops")
    turned_names = [(curve["name"], decoded(curve["x"])) for curve in data_of(turned)]
    assert turned_names == [(f"gc policy {policy}", [1000, 2000]) for policy in ("greedy", "fifo")]
    lacking = outlast.Sweep(json.loads(swept.to_json()), swept.columns)
    for point in lacking.points:
        point["figures"]["throughput.iops"]["mean"] = None
    with pytest.raises(OutputError, match=r'no chart "throughput.iops" of two <b>: no run has this figure'):
        lacking.plot.figure("throughput.iops")
    with pytest.raises(OutputError, match=r'figures = \["wear.mean_pe"\] of the sweep makes it'):
        swept.plot.figure("wear.mean_pe")
    with pytest.raises(OutputError, match=r'over = "seed": what varies is device.ftl.gc.policy'):
        swept.plot.figure(over="seed")
    assert len(data_of(swept.plot.front())) == 2
