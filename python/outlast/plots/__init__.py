"""Charts of results as files for a paper: PDF, SVG or PNG, by matplotlib (`outlast[figures]`).

The charts are those of the report: `outlast.report` says what each shows, and this package draws it for print, with
type of a fixed size, series that differ in greyscale, and a width in inches or millimetres.
"""

from __future__ import annotations

from outlast.plots.documents import Document, document_at
from outlast.plots.saving import FORMATS, charts_of, save
from outlast.plots.style import Style, length

__all__ = ["FORMATS", "Document", "Style", "charts_of", "document_at", "length", "save"]
