"""The page that says how all is measured, by which rules, and from which versions."""

from transit_exports.settings import NO_LICENCE
from transit_reports.language import _, number
from transit_reports.page import Page
from transit_reports.report import Report


def method_page(report: Report) -> Page:
    """Return the page of definitions."""
    publication, settings, rules = report.source.publication, report.source.settings, report.rules
    values = {
        "early": rules["early_seconds"],
        "late": rules["late_seconds"],
        "version": rules["ruleset_version"],
        "frequent": rules["frequent_per_hour"],
        "bunched": number(rules["bunched_ratio"], 2),
        "gap": number(rules["gap_ratio"], 2),
        "licence": "" if settings.licence == NO_LICENCE else settings.licence,
        "versions": [
            (_("Operator"), publication.operator),
            (_("Published"), f"{publication.published_at:%Y-%m-%d %H:%M} UTC"),
            (_("Build"), publication.build_number),
            (_("Program"), f"transit-etl {publication.version}"),
            (_("Ruleset"), rules["ruleset_version"]),
            (_("Time zone"), publication.timezone),
            (_("Last answer"), f"{report.one('rehearsed')['last_answer_at']:%Y-%m-%d %H:%M} UTC"),
        ],
    }
    return Page("method/index.html", "method.html", _("How it is measured"), values)
