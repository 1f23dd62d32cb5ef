"""A page as PDF, by WeasyPrint (extra `pdf`)."""

from audit_reports.errors import ReportError


def pdf_of(page: str) -> bytes:
    """Return a self-contained HTML page laid out for A4 as PDF; nothing is fetched.

    Raises ReportError where WeasyPrint or the libraries it draws with are missing.
    """
    try:
        from weasyprint import HTML
        from weasyprint.urls import URLFetcher
    except (ImportError, OSError) as error:
        raise ReportError(
            "PDF needs WeasyPrint and pango: pip install 'shoeproof[pdf]' and, on Debian, "
            f"apt install libpango-1.0-0 libpangoft2-1.0-0; or print the HTML page ({error})"
        ) from None
    made: bytes = HTML(string=page, url_fetcher=URLFetcher(allowed_protocols=())).write_pdf()
    return made
