"""A page as PDF, by WeasyPrint (extra `pdf`)."""

from shoeproof.audit_reports.errors import ReportError
from shoeproof.needs import need


def pdf_of(page: str) -> bytes:
    """Return a self-contained HTML page laid out for A4 as PDF; nothing is fetched.

    Raises NotInstalled without WeasyPrint, ReportError without the libraries it draws with.
    """
    need("PDF", "weasyprint", extra="pdf")
    try:
        from weasyprint import HTML
        from weasyprint.urls import URLFetcher
    except OSError as error:
        raise ReportError(
            "PDF needs pango: on Debian, apt install libpango-1.0-0 libpangoft2-1.0-0; or print "
            f"the HTML page ({error})"
        ) from None
    made: bytes = HTML(string=page, url_fetcher=URLFetcher(allowed_protocols=())).write_pdf()
    return made
