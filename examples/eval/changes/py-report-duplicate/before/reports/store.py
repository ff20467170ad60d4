from dataclasses import dataclass, field


@dataclass
class Report:
    id: int
    workspace_id: int
    title: str
    query: str
    columns: list[str] = field(default_factory=list)
    schedule: str | None = None
    recipients: list[str] = field(default_factory=list)


class ReportStore:
    """Reports of all workspaces."""

    def __init__(self) -> None:
        self._rows: dict[int, Report] = {}
        self._next_id = 1

    def find(self, report_id: int) -> Report | None:
        """Looks a report up by primary key. The workspace is not part of the key:
        callers compare `workspace_id` themselves."""
        return self._rows.get(report_id)

    def add(self, workspace_id: int, title: str, query: str, columns: list[str]) -> Report:
        report = Report(self._next_id, workspace_id, title, query, columns)
        self._rows[report.id] = report
        self._next_id += 1
        return report
