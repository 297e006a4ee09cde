"""Settings of Sphinx for `make docs`: static pages that open from disk and need no network."""

project = "transit-etl"
html_title = "transit-etl"
extensions = ["myst_parser"]
root_doc = "index"
exclude_patterns = ["_build"]
myst_heading_anchors = 3
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["tables.css"]
html_copy_source = False
html_show_copyright = False
html_show_search_summary = False  # a browser cannot fetch the pages' text from disk
html_last_updated_fmt = None  # the same sources give the same pages
