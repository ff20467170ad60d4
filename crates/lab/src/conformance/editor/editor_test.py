"""Drives `assay lsp` with pytest-lsp, which checks each message against the specification.

Environment: ASSAY_PROGRAM, the program; ASSAY_FOLDER, an empty folder.
"""

import asyncio
import os
import pathlib
import subprocess

import pytest
import pytest_lsp
from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, register_lsp_features

CODE = "def total(prices):\n    return sum(prices)\n"
BROKEN = "def total(prices):\n    breakpoint()\n    return sum(prices)\n"
TIMEOUT = 60
PUBLISH = types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS
PROGRAM = os.environ["ASSAY_PROGRAM"]
FOLDER = pathlib.Path(os.environ["ASSAY_FOLDER"])
EDITORS = ["visual-studio-code", "neovim@v0.11.0", "neovim@v0.7.0", "emacs"]

pytestmark = pytest.mark.filterwarnings("error::pytest_lsp.LspSpecificationWarning")


def git(folder, *args):
    identity = ["-c", "user.name=tester", "-c", "user.email=tester@localhost"]
    subprocess.run(["git", *identity, *args], cwd=folder, check=True)


def choose(client: LanguageClient, params: types.ShowMessageRequestParams):
    client.asked.append(params.message)
    return next(action for action in params.actions if action.title == "Accepted risk")


def publish(client: LanguageClient, params: types.PublishDiagnosticsParams):
    client.published.put_nowait(params)


def accept(client: LanguageClient, params):
    return None


FEATURES = {
    **DEFAULT_CLIENT_FEATURES,
    PUBLISH: publish,
    types.WINDOW_SHOW_MESSAGE_REQUEST: choose,
    types.CLIENT_REGISTER_CAPABILITY: accept,
    types.WORKSPACE_CODE_LENS_REFRESH: accept,
}


def make_client():
    client = LanguageClient(converter_factory=default_converter)
    client.asked = []
    client.published = asyncio.Queue()
    register_lsp_features(client, FEATURES)
    return client


@pytest.fixture
def file(tmp_path):
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet")
    file = folder / "shop.py"
    file.write_text(CODE)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "shop")
    return file


CONFIG = ClientServerConfig(
    server_command=[PROGRAM, "lsp"],
    client_factory=make_client,
    server_env={**os.environ, "XDG_STATE_HOME": str(FOLDER / "state")},
)


async def initialize(client, editor, file):
    folder = types.WorkspaceFolder(uri=file.parent.as_uri(), name="repository")
    await client.initialize_session(
        types.InitializeParams(
            capabilities=client_capabilities(editor),
            workspace_folders=[folder],
            initialization_options={"debounce": 0},
        )
    )


@pytest_lsp.fixture(config=CONFIG, params=EDITORS)
async def client(lsp_client: LanguageClient, request, file):
    lsp_client.editor = request.param
    await initialize(lsp_client, request.param, file)
    yield
    await lsp_client.shutdown_session()
    assert lsp_client._server.returncode == 0


def open_file(client, file, text):
    document = types.TextDocumentItem(uri=file.as_uri(), language_id="python", version=1, text=text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=document))


def type_text(client, file, version, line, text):
    at = types.Position(line=line, character=0)
    change = types.TextDocumentContentChangePartial(range=types.Range(start=at, end=at), text=text)
    document = types.VersionedTextDocumentIdentifier(uri=file.as_uri(), version=version)
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(text_document=document, content_changes=[change])
    )


async def diagnostics(client, file, version):
    """Returns the diagnostics for a version of a file, and waits for them."""
    while True:
        params = await asyncio.wait_for(client.published.get(), TIMEOUT)
        if params.uri == file.as_uri() and params.version == version:
            return list(params.diagnostics)


def identifier(file):
    return types.TextDocumentIdentifier(uri=file.as_uri())


async def actions(client, file, line, only=None):
    at = types.Position(line=line, character=0)
    params = types.CodeActionParams(
        text_document=identifier(file),
        range=types.Range(start=at, end=at),
        context=types.CodeActionContext(diagnostics=[], only=only),
    )
    found = await client.text_document_code_action_async(params)
    return {action.title.split(":")[0]: action for action in found}


async def execute(client, command, argument):
    params = types.ExecuteCommandParams(command=command, arguments=[argument])
    return await client.workspace_execute_command_async(params)


def applied(text, action, file):
    """Returns a text of plain ASCII after the edit of an action."""
    edit = action.edit
    changes = edit.document_changes[0].edits if edit.document_changes else edit.changes[file.as_uri()]
    [change] = changes
    lines = text.splitlines(keepends=True)
    offset = lambda at: sum(map(len, lines[: at.line])) + at.character
    return text[: offset(change.range.start)] + change.new_text + text[offset(change.range.end) :]


@pytest.mark.asyncio
async def test_findings_appear_and_disappear_while_typing(client, file):
    open_file(client, file, CODE)
    assert await diagnostics(client, file, 1) == []
    type_text(client, file, 2, 1, "    breakpoint()\n")
    [found] = await diagnostics(client, file, 2)
    assert (found.code, found.source, found.range.start.line) == ("python/debugger", "assay", 1)
    assert found.severity == types.DiagnosticSeverity.Error


@pytest.mark.asyncio
async def test_a_hover_has_the_reason_and_the_evidence(client, file):
    open_file(client, file, BROKEN)
    await diagnostics(client, file, 1)
    position = types.Position(line=1, character=6)
    params = types.HoverParams(text_document=identifier(file), position=position)
    hover = await client.text_document_hover_async(params)
    for part in ["Why: ", "Evidence:", "breakpoint()", "python/debugger"]:
        assert part in hover.contents.value


@pytest.mark.asyncio
async def test_fixes_change_the_open_text(client, file):
    two = BROKEN.replace("    return", "    breakpoint()\n    return")
    open_file(client, file, two)
    await diagnostics(client, file, 1)
    offered = await actions(client, file, 1)
    assert list(offered) == ["Fix", "Dismiss", "Explain", "Apply all safe fixes of assay in this file"]
    assert applied(two, offered["Fix"], file) == BROKEN
    [fix_all] = (await actions(client, file, 0, only=["source.fixAll"])).values()
    assert applied(two, fix_all, file) == CODE


@pytest.mark.asyncio
async def test_the_code_lens_shows_the_verdict_of_a_review(client, file):
    file.write_text(BROKEN)
    open_file(client, file, BROKEN)
    await diagnostics(client, file, 1)
    stored = await execute(client, "assay.review", {"uri": file.as_uri()})
    assert stored.startswith("the review is stored as run ")
    await diagnostics(client, file, 1)
    lenses = await client.text_document_code_lens_async(
        types.CodeLensParams(text_document=identifier(file))
    )
    assert lenses[0].command.title == "assay: not ready (1 finding: 1 HIGH); here: 1"


@pytest.mark.asyncio
async def test_a_dismissal_persists(client, file):
    file.write_text(BROKEN)
    open_file(client, file, BROKEN)
    await diagnostics(client, file, 1)
    await execute(client, "assay.review", {"uri": file.as_uri()})
    [found] = await diagnostics(client, file, 1)
    # lsprotocol reads an action with a command as a bare command, so the argument is made here.
    assert {"Explain", "Dismiss"} <= set(await actions(client, file, 1))
    argument = {"uri": file.as_uri(), "id": found.data["id"]}
    assert "raised" in await execute(client, "assay.explain", argument)
    answer = await execute(client, "assay.dismiss", argument)
    assert answer == "dismissed: Breakpoint left in the code"
    assert len(client.asked) == 1
    while await diagnostics(client, file, 1) != []:
        pass
    again = await CONFIG.start()
    await initialize(again, client.editor, file)
    open_file(again, file, BROKEN)
    assert await diagnostics(again, file, 1) == []
    await again.shutdown_session()
    assert again._server.returncode == 0
    await again.stop()
