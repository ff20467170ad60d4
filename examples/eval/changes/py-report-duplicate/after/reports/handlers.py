from dataclasses import dataclass

from reports.store import ReportStore


@dataclass(frozen=True)
class User:
    id: int
    workspace_id: int
    role: str  # "viewer", "editor" or "admin"


@dataclass(frozen=True)
class Response:
    status: int
    body: dict


NOT_FOUND = Response(404, {"error": "report not found"})
FORBIDDEN = Response(403, {"error": "not allowed"})

MAX_TITLE = 120


def show_report(store: ReportStore, user: User, report_id: int) -> Response:
    report = store.find(report_id)
    if report is None or report.workspace_id != user.workspace_id:
        return NOT_FOUND
    return Response(200, {"id": report.id, "title": report.title, "columns": report.columns})


def copy_title(title: str) -> str:
    return f"Copy of {title}"[:MAX_TITLE]


def duplicate_report(store: ReportStore, user: User, report_id: int) -> Response:
    """Copies query and columns into a new report of the user's workspace."""
    if user.role == "viewer":
        return FORBIDDEN
    source = store.find(report_id)
    if source is None:
        return NOT_FOUND
    copy = store.add(
        workspace_id=user.workspace_id,
        title=copy_title(source.title),
        query=source.query,
        columns=list(source.columns),
    )
    return Response(201, {"id": copy.id})
