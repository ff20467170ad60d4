"""Claiming and finishing of mail jobs."""
from dataclasses import dataclass

from mail.db import transaction

MAX_ATTEMPTS = 5


@dataclass(frozen=True)
class MailJob:
    id: int
    attempts: int
    recipient: str
    body: str


def claim_job(dsn: str, worker: str) -> MailJob | None:
    """Marks the oldest ready job as running and returns the job, None if there is none."""
    with transaction(dsn) as cursor:
        cursor.execute(
            "SELECT id, attempts, recipient, body FROM mail_jobs"
            " WHERE state = 'ready' ORDER BY id LIMIT 1"
        )
        row = cursor.fetchone()
        if row is None:
            return None
        job_id, attempts, recipient, body = row
        cursor.execute(
            "UPDATE mail_jobs SET state = 'running', worker = %s, attempts = %s WHERE id = %s",
            (worker, attempts + 1, job_id),
        )
    return MailJob(job_id, attempts + 1, recipient, body)


def finish_job(dsn: str, job: MailJob) -> None:
    with transaction(dsn) as cursor:
        cursor.execute("UPDATE mail_jobs SET state = 'done' WHERE id = %s", (job.id,))


def fail_job(dsn: str, job: MailJob) -> None:
    """Returns the job to the queue, or gives it up after the last attempt."""
    state = "dead" if job.attempts >= MAX_ATTEMPTS else "ready"
    with transaction(dsn) as cursor:
        cursor.execute(
            "UPDATE mail_jobs SET state = %s, worker = NULL WHERE id = %s", (state, job.id)
        )
