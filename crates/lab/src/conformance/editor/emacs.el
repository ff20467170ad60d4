;;; emacs.el --- Drives `assay lsp` with eglot.  -*- lexical-binding: t -*-

;; Environment: ASSAY_FILE, a file of a repository with a committed text; ASSAY_MANUAL, the
;; configuration of the manual.  Exits with 0 if everything is as expected.

(package-initialize)
(require 'eglot)
(require 'python)
(load (getenv "ASSAY_MANUAL") nil t)

(defconst assay-timeout 60)

;; Newer versions ask before an edit.
(defvar eglot-confirm-server-edits)
(setq eglot-confirm-server-edits nil)

(defun assay-apply (edit)
  "Apply EDIT; newer versions of eglot need its origin."
  (if (eq 1 (car (func-arity #'eglot--apply-workspace-edit)))
      (eglot--apply-workspace-edit edit)
    (eglot--apply-workspace-edit edit 'eglot-code-actions)))

(defun assay-wait (why condition)
  "Wait until CONDITION returns a value, and return it.  Fail with WHY."
  (let ((end (+ (float-time) assay-timeout)) value)
    (while (and (not (setq value (funcall condition))) (< (float-time) end))
      (accept-process-output nil 0.05))
    (or value (error "no %s in time" why))))

(defun assay-findings ()
  "Return the messages of the diagnostics of the buffer."
  (mapcar #'flymake-diagnostic-text (flymake-diagnostics)))

(defun assay-await (count)
  "Wait for COUNT findings in the buffer."
  (assay-wait (format "%d findings" count)
              (lambda ()
                (eglot--signal-textDocument/didChange)
                (flymake-start)
                (= count (length (assay-findings))))))

(defun assay-main ()
  "Type a flaw, read its hover, apply its fix, and stop the server."
  (find-file (getenv "ASSAY_FILE"))
  (let ((committed (buffer-string)))
    (python-mode)
    (apply #'eglot (eglot--guess-contact))
    (let ((server (assay-wait "server" #'eglot-current-server)))
      (assay-wait "managed buffer" (lambda () (eglot-managed-p)))
      (goto-char (point-min))
      (forward-line 1)
      (insert "    breakpoint()\n")
      (assay-await 1)
      (unless (string-match-p "Breakpoint left" (car (assay-findings)))
        (error "another finding: %S" (assay-findings)))
      (forward-line -1)
      (let* ((hover (jsonrpc-request server :textDocument/hover
                                     (eglot--TextDocumentPositionParams)))
             (text (plist-get (plist-get hover :contents) :value)))
        (unless (and (string-match-p "Why: " text) (string-match-p "Evidence:" text))
          (error "another hover: %s" text)))
      (let* ((actions (eglot-code-actions (point) (line-end-position)))
             (fix (seq-find (lambda (action) (string-prefix-p "Fix: " (plist-get action :title)))
                            actions)))
        (unless fix (error "no fix: %S" actions))
        (assay-apply (plist-get fix :edit)))
      (assay-await 0)
      (unless (string= (buffer-string) committed) (error "another text: %s" (buffer-string)))
      (set-buffer-modified-p nil)
      ;; `eglot-shutdown' kills the process at once, so that its exit code is not seen.
      (let ((process (jsonrpc--process server)))
        (jsonrpc-request server :shutdown nil)
        (jsonrpc-notify server :exit nil)
        (assay-wait "exit of the server" (lambda () (not (process-live-p process))))
        (unless (eq 0 (process-exit-status process))
          (error "the server ended with %s" (process-exit-status process)))))))

(assay-main)
;;; emacs.el ends here
