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


def show_report(store: ReportStore, user: User, report_id: int) -> Response:
    report = store.find(report_id)
    if report is None or report.workspace_id != user.workspace_id:
        return NOT_FOUND
    return Response(200, {"id": report.id, "title": report.title, "columns": report.columns})
