"""Display of results, sweeps and lists in notebooks: HTML in the notebook's own colours, and charts.

`html` makes the tables, `theme` turns a chart of the report into a plotly figure, and `plots` has the charts of each
kind of object, drawn by the functions that draw the report.
"""
