"""Reports what became of tests to files outside of the work tree.

Python loads this module before any code of the work tree. Tests of `unittest` are reported one by one; of
pytest, which writes a report itself, only the places that skips are raised at. An error in here leaves the
run as it is: then there is no report, and a run without a report does not pass.
"""


def _install():
    import os
    import sys
    from importlib.machinery import PathFinder

    own = os.path.dirname(os.path.abspath(__file__))
    reports = os.path.join(os.path.dirname(os.path.dirname(own)), "reports")
    sys.path[:] = [path for path in sys.path if path != own]
    # Code under test may replace these.
    write, open_file, close, getpid = os.write, os.open, os.close, os.getpid
    environ, frame_of, monotonic = os.environ, sys._getframe, __import__("time").monotonic
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND

    def quoted(text):
        text = str(text).encode("utf-8", "replace").decode("utf-8")
        out = []
        for char in text:
            code = ord(char)
            if char in '"\\':
                out.append("\\" + char)
            elif code < 32 or 126 < code < 65536:
                out.append("\\u%04x" % code)
            else:
                out.append(char)
        return '"' + "".join(out) + '"'

    def value(item):
        if item is None:
            return "null"
        if isinstance(item, (int, float)) and not isinstance(item, bool):
            return repr(item)
        return quoted(item)

    def tell(kind, **fields):
        """Writes a line of a report. The file of a kind and process is its own."""
        line = "{" + ",".join(quoted(name) + ":" + value(item) for name, item in fields.items()) + "}\n"
        file = open_file(os.path.join(reports, "%s-%d.jsonl" % (kind, getpid())), flags, 0o600)
        try:
            write(file, line.encode("utf-8"))
        finally:
            close(file)

    # The places that skips were raised at, by their reasons.
    places = {}

    installed = ("unittest", "_pytest", "pluggy", "importlib", "site-packages", "dist-packages")

    def is_passed_over(frame):
        name = frame.f_code.co_filename
        parts = name.replace("\\", "/").split("/")
        is_start = frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") == "__main__"
        return is_start or name.startswith("<") or name == __file__ or any(it in parts for it in installed)

    def note(reason, frame):
        while frame is not None and is_passed_over(frame):
            frame = frame.f_back
        if frame is None:
            return
        file, line = os.path.abspath(frame.f_code.co_filename), frame.f_lineno
        places[str(reason)] = (file, line)
        if "_pytest" in sys.modules:
            test = environ.get("PYTEST_CURRENT_TEST")
            tell("pytest", skip=test.rsplit(" ", 1)[0] if test else None, file=file, line=line)

    def watch_skips(exception):
        before = exception.__init__

        def __init__(self, *args, **kwargs):
            before(self, *args, **kwargs)
            reason = args[0] if args else kwargs.get("msg", "")
            places.pop(str(reason), None)
            note(reason, frame_of(1))

        exception.__init__ = __init__

    def in_case(module):
        watch_skips(module.SkipTest)

    def in_outcomes(module):
        watch_skips(module.Skipped)

    def name_of(test):
        """Names a test as `method (module.Class.method)`, whatever the version of Python and its docstring."""
        method, kind = getattr(test, "_testMethodName", None), type(test)
        if method is None:
            return str(test)
        if kind.__module__ == "unittest.loader":
            return method
        return "%s (%s.%s.%s)" % (method, kind.__module__, kind.__qualname__, method)

    def file_of(test):
        kind = type(test)
        module = sys.modules.get(kind.__module__)
        return None if kind.__module__.startswith("unittest") else getattr(module, "__file__", None)

    def in_runner(module):
        from traceback import format_exception

        rank = {"passed": 0, "skipped": 1, "failed": 2}
        runs = []

        class Report:
            def __init__(self, result):
                self.open, self.count = {}, 0
                self.explain = getattr(result, "_exc_info_to_string", None)
                for method in ("startTest", "stopTest", "addSuccess", "addError", "addFailure", "addSkip",
                               "addExpectedFailure", "addUnexpectedSuccess", "addSubTest"):
                    self.wrap(result, method)

            def wrap(self, result, method):
                before, see = getattr(result, method, None), getattr(self, method)
                if before is None:
                    return

                def wrapper(test, *args, **kwargs):
                    see(test, *args, **kwargs)
                    return before(test, *args, **kwargs)

                setattr(result, method, wrapper)

            def startTest(self, test):
                self.open[id(test)] = [None, "", None, monotonic()]
                tell("unittest", begun=name_of(test))

            def stopTest(self, test):
                entry = self.open.pop(id(test), None)
                if entry is not None:
                    outcome, said, place, start = entry
                    # A test whose parts all passed reports none of them.
                    self.write(test, outcome or "passed", said, place, monotonic() - start)

            def write(self, test, outcome, said, place, seconds):
                self.count += 1
                file, line = place or (None, None)
                tell("unittest", test=name_of(test), file=file_of(test), outcome=outcome, message=said,
                     seconds=seconds, skipped_in=file, line=line)

            def note(self, test, outcome, said="", place=None):
                entry = self.open.get(id(test))
                if entry is None:
                    self.write(test, outcome, said, place, 0)
                elif entry[0] is None or rank[outcome] > rank[entry[0]]:
                    entry[0], entry[1], entry[2] = outcome, said, place

            def said(self, test, error):
                text = self.explain(error, test) if self.explain else "".join(format_exception(*error))
                return text[-4000:]

            def addSuccess(self, test, *_):
                self.note(test, "passed")

            def addError(self, test, error, *_):
                self.note(test, "failed", self.said(test, error))

            addFailure = addError

            def addSkip(self, test, reason, *_):
                self.note(test, "skipped", reason, places.get(str(reason)))

            def addExpectedFailure(self, test, *_):
                self.note(test, "skipped", "expected to fail")

            def addUnexpectedSuccess(self, test, *_):
                self.note(test, "failed", "passes, and is expected to fail")

            def addSubTest(self, test, part, error, *_):
                if error is not None:
                    self.note(test, "failed", str(part) + "\n" + self.said(test, error))

        before = module.TextTestRunner.run

        def run(self, test, *args, **kwargs):
            if runs:
                return before(self, test, *args, **kwargs)
            runs.append(True)
            # Runs that a test starts in a process of its own are no part of this run.
            kept = environ.get("PYTHONPATH", "").split(os.pathsep)
            environ["PYTHONPATH"] = os.pathsep.join(path for path in kept if path and path != own)
            if not environ["PYTHONPATH"]:
                del environ["PYTHONPATH"]
            made, make = [], self._makeResult

            def make_result():
                result = make()
                made.append(Report(result))
                return result

            self._makeResult = make_result
            tell("unittest", run="begin")
            try:
                result = before(self, test, *args, **kwargs)
            finally:
                runs.pop()
                self._makeResult = make
            tell("unittest", run="end", count=sum(report.count for report in made))
            return result

        module.TextTestRunner.run = run

    patches = {
        "unittest.case": in_case,
        "unittest.runner": in_runner,
        "_pytest.outcomes": in_outcomes,
    }

    class Patches:
        @staticmethod
        def find_spec(name, path=None, target=None):
            patch = patches.pop(name, None)
            spec = patch and PathFinder.find_spec(name, path)
            if not spec or not hasattr(spec.loader, "exec_module"):
                return None
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                try:
                    patch(module)
                except Exception:
                    pass

            spec.loader.exec_module = exec_module
            return spec

    sys.meta_path.insert(0, Patches)


def _load_shadowed():
    """Loads the module of this name that Python would have loaded without this one."""
    import sys
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


try:
    _install()
except Exception:
    pass
_load_shadowed()
