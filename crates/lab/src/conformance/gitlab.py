"""Uses a merge request through python-gitlab, as a user of GitLab's API would."""

import hashlib
import sys

import gitlab

url, token, project, head = sys.argv[1:]
server = gitlab.Gitlab(url, private_token=token)
server.auth()
assert server.user.username == "assay-bot", server.user

request = server.projects.get(project, lazy=True).mergerequests.get(1)
assert request.sha == head and request.target_branch == "main", request
refs = request.diff_refs
path = hashlib.sha1(b"b.txt").hexdigest()


def line(number):
    return {"line_code": f"{path}_0_{number}", "type": "new", "new_line": number}


def position(**place):
    names = {"old_path": "b.txt", "new_path": "b.txt", "position_type": "text"}
    return {**refs, **names, **place}


def refused(**place):
    try:
        request.discussions.create({"body": "x", "position": position(**place)})
    except gitlab.GitlabCreateError as error:
        return error.response_code == 400
    return False


started = request.discussions.create(
    {
        "body": "Lines",
        "position": position(new_line=3, line_range={"start": line(1), "end": line(3)}),
    }
)
request.discussions.create({"body": "File", "position": position(position_type="file")})
assert refused(new_line=9)
assert refused(new_line=3, old_line=3)
started.notes.create({"body": "A reply"})
started.resolved = True
started.save()

note = request.notes.create({"body": "Summary"})
note.body = "A new summary"
note.save()
for number in range(5):
    request.notes.create({"body": f"Note {number}"})

found = list(request.discussions.list(iterator=True, per_page=2))
assert len(found) == 8, found
first = found[0].attributes["notes"]
assert [it["body"] for it in first] == ["Lines", "A reply"], first
assert first[0]["type"] == "DiffNote" and first[0]["resolved"], first
assert found[2].attributes["notes"][0]["body"] == "A new summary"

request.approve(sha=head)
approvals = request.approvals.get().approved_by
assert [it["user"]["username"] for it in approvals] == ["assay-bot"], approvals
request.unapprove()
assert request.approvals.get().approved_by == []
